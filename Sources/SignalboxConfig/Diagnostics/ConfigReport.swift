import SignalboxJSON

/// Prints mistakes as a compiler does: file, line and column, the line itself, a mark below it, and a hint. Hides
/// possible secrets, and replaces characters that would control a terminal.
package struct ConfigReport {
    /// In the order that the mistakes refer to.
    private let files: [ConfigText]
    /// False for files and pipes.
    private let hasColor: Bool

    /// `hasColor`: with the color codes of terminals (ECMA-48). `files`: all files of the config, because mistakes
    /// refer to them by index.
    package init(of files: [ConfigText], hasColor: Bool = false) { (self.files, self.hasColor) = (files, hasColor) }

    /// The report, in the order of the mistakes. Each mistake ends with a line feed. Notes follow the mistake that
    /// they belong to.
    package func text(of mistakes: [ConfigMistake]) -> String {
        var texts: [Int: TextLines] = [:]
        // A file without a place needs no excerpt, and may be too large to be read.
        for file in Set(mistakes.flatMap { ($0.place == nil ? [] : [$0.file]) + $0.notes.map(\.file) }) {
            texts[file] = TextLines(files[file].hidingSecrets(of: mistakes, in: file).bytes)
        }
        return mistakes.map { text(of: $0, in: texts) }.joined()
    }

    /// `name:line:column`, as editors understand it; the name alone for a mistake of the whole file.
    private static func place(of mistake: ConfigMistake, in name: String) -> String {
        mistake.position.map { "\(name):\($0.line):\($0.column)" } ?? name
    }

    /// The most mistakes that ``lines(of:in:)`` shows.
    private static let mostLines = 20

    /// One line for each mistake, without the lines of the files, which may have secrets by mistake. `names`: the names
    /// of the files. Mistakes beyond ``mostLines`` are counted only; a line has at most 500 characters. For logs: no
    /// line quotes the text of the config, except for the names on the way to the mistake.
    package static func lines(of mistakes: [ConfigMistake], in names: [String]) -> [String] {
        var lines = mistakes.prefix(mostLines).map { mistake in
            let (pointer, message) = unquoted(mistake)
            let line =
                place(of: mistake, in: names[mistake.file]) + ": \(mistake.severity.rawValue): "
                + (pointer.isEmpty ? "" : shortened(pointer) + ": ") + message
            return line.count > 500 ? printable(line.prefix(500) + "…") : printable(line)
        }
        if mistakes.count > mostLines {
            lines.append("and \(mistakes.count - mostLines) more: see signalbox routes check")
        }
        return lines
    }

    /// Pointer and message of a mistake, with `…` instead of the text that the problem quotes. A key that the problem
    /// quotes is replaced in the pointer too. The remedy stays: it quotes the names of options only. Warnings stay,
    /// because they quote names of a valid config.
    private static func unquoted(_ mistake: ConfigMistake) -> (pointer: String, message: String) {
        guard !mistake.repeatsText else {
            return (mistake.pointer, "this is not a JSON value; signalbox routes check shows it")
        }
        let (problem, hint) = parts(of: mistake.message)
        guard mistake.severity == .error, let first = problem.firstIndex(of: "\""),
            let last = problem.lastIndex(of: "\""), first < last
        else { return (mistake.pointer, mistake.message) }
        let quoted = problem[problem.index(after: first)..<last]
        let key = mistake.pointer.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let isKey = !key.isEmpty && quoted.contains(key.replacing("~1", with: "/").replacing("~0", with: "~"))
        let message = "\(problem[...first])…\(problem[last...])" + (hint.map { "; " + $0 } ?? "")
        return (isKey ? "\(mistake.pointer.dropLast(key.count))…" : mistake.pointer, message)
    }

    /// `routes.json: 2 errors, 1 warning`, with a line feed. Names the config's own file, even if the mistakes are in
    /// other files. `at least 100 errors`: further ones are not listed.
    package func summary(of mistakes: [ConfigMistake]) -> String {
        let counts = [ConfigMistake.Severity.error, .warning].compactMap { severity -> String? in
            let count = mistakes.count { $0.severity == severity }
            guard count > 0 else { return nil }
            let bound = count < ConfigDiagnostics.most ? "" : "at least "
            return "\(bound)\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        return "\(files.first?.name ?? ""): \(counts.joined(separator: ", "))\n"
    }

    /// The mistake, its line with a mark, its hint and its notes. `texts`: without secrets, by the index of the file.
    private func text(of mistake: ConfigMistake, in texts: [Int: TextLines]) -> String {
        let (problem, hint) = Self.parts(of: mistake.message)
        let pointer = mistake.pointer.isEmpty ? "" : Self.printable(Self.shortened(mistake.pointer)) + ": "
        let place = Self.place(of: mistake, in: files[mistake.file].name)
        let color: Color = mistake.severity == .error ? .red : .yellow
        var text =
            colored(place + ": ", .bold) + colored(mistake.severity.rawValue + ": ", color)
            + colored(pointer + Self.printable(problem), .bold) + "\n"
        if let range = mistake.place, let lines = texts[mistake.file] {
            text += shown(SourceExcerpt(of: range, in: lines), color)
        }
        if let hint { text += colored("  hint: ", .cyan) + Self.printable(hint) + "\n" }
        for note in mistake.notes {
            guard let lines = texts[note.file] else { continue }
            let excerpt = SourceExcerpt(of: note.place, in: lines)
            text += colored("\(files[note.file].name):\(excerpt.line): ", .bold) + colored("note: ", .cyan)
            text += Self.printable(note.message) + "\n" + shown(excerpt, .cyan)
        }
        return text
    }

    /// Two lines: the text, and the mark below it.
    private func shown(_ excerpt: SourceExcerpt, _ color: Color) -> String {
        let number = String(excerpt.line)
        let gutter = String(repeating: " ", count: max(4, number.count) - number.count)
        let blank = String(repeating: " ", count: max(4, number.count))
        let mark = "^" + String(repeating: "~", count: excerpt.width - 1)
        return "\(gutter)\(number) | \(excerpt.text)\n\(blank) | " + String(repeating: " ", count: excerpt.indent)
            + colored(mark, color) + "\n"
    }

    /// The problem and the remedy, which the first semicolon outside quotes separates. The hint is nil for a message
    /// without a semicolon.
    static func parts(of message: String) -> (problem: String, hint: String?) {
        var isQuoted = false
        var previous: Character?
        for position in message.indices {
            if message[position] == "\"" { isQuoted.toggle() }
            if message[position] == " ", previous == ";", !isQuoted {
                return (
                    String(message[..<message.index(before: position)]),
                    String(message[message.index(after: position)...])
                )
            }
            previous = message[position]
        }
        return (message, nil)
    }

    /// A key can be as long as the whole config. Keeps the beginning and the end, which identify the place.
    private static func shortened(_ pointer: String) -> String {
        pointer.utf8.count <= 1_000 ? pointer : pointer.prefix(300) + "…" + pointer.suffix(100)
    }

    /// Replaces characters that would move the cursor. Prevents a config from sending escape sequences to the
    /// terminal.
    private static func printable(_ text: String) -> String {
        var printable = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let category = scalar.properties.generalCategory
            printable.append(category == .control || category == .format ? "\u{FFFD}" : scalar)
        }
        return String(printable)
    }

    /// Parameters of ECMA-48's SGR.
    private enum Color: String {
        case bold = "1"
        case red = "1;31"
        case yellow = "1;33"
        case cyan = "1;36"
    }

    /// Unchanged without colors.
    private func colored(_ text: String, _ color: Color) -> String {
        hasColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
    }
}
