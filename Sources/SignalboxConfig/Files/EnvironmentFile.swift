import SignalboxNotification

/// The variables of `gateway.environmentFile`, in the form that systemd's `EnvironmentFile` and containers share.
///
/// A line is `NAME=VALUE`, a comment that begins with `#`, or empty. White space around a value, and one pair of quotes
/// around it, are removed. References to other variables are not expanded, and a value ends with its line.
struct EnvironmentFile {
    /// The most bytes of a file.
    static let mostBytes = 64 << 10
    /// The most variables of a file.
    static let mostVariables = 1_000

    /// By name.
    private(set) var variables: [String: String] = [:]

    /// Why a text is not such a file, as a clause without a full stop. Never has text of the file, which has secrets.
    struct Mistake: Error, Equatable {
        let message: String
    }

    /// Reads the text of a file. Throws for the first line of another form, for a repeated name, and for more than
    /// ``mostVariables``.
    init(_ text: String) throws(Mistake) {
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        for (number, line) in lines.enumerated() {
            let line = line.trimming { $0 == " " || $0 == "\t" }
            guard !line.isEmpty, line.first != "#" else { continue }
            let sides = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, Self.isName(sides[0]), let value = Self.unquoted(sides[1]) else {
                throw Mistake(message: "line \(number + 1) must be NAME=VALUE with closed quotes, or a comment")
            }
            guard variables.updateValue(value, forKey: String(sides[0])) == nil else {
                throw Mistake(message: "line \(number + 1) sets a variable of an earlier line again; remove one")
            }
            guard variables.count <= Self.mostVariables else {
                throw Mistake(message: "it has more than \(Self.mostVariables) variables")
            }
        }
    }

    /// A letter or `_`, then letters, digits and `_`, in ASCII.
    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !first.isDigit else { return false }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
    }

    /// Nil for a quote that is not closed at the end of the line. Escapes have no meaning: a backslash is part of the
    /// value.
    private static func unquoted(_ text: Substring) -> String? {
        let text = text.trimming { $0 == " " || $0 == "\t" }
        guard let quote = text.first, quote == "\"" || quote == "'" else { return String(text) }
        guard text.count >= 2, text.last == quote else { return nil }
        return String(text.dropFirst().dropLast())
    }
}

extension Substring {
    /// Without the characters at both ends that meet a condition.
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> Substring {
        let start = drop(while: isTrimmed)
        let end = start.lastIndex { !isTrimmed($0) }
        return end.map { start[...$0] } ?? ""
    }
}

extension SecretResolver {
    /// This resolver with the variables of the config's `gateway.environmentFile`, which take precedence over those
    /// of the process. Reads the file at each call. Throws for a file that cannot be read or has another form.
    package func reading(_ config: GatewayConfig) throws(ConfigRefusal) -> SecretResolver {
        guard let path = config.gateway.environmentFile else { return self }
        let option = "/gateway/environmentFile"
        let bytes = try beginning(of: path, upTo: EnvironmentFile.mostBytes + 1, option)
        guard bytes.count <= EnvironmentFile.mostBytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw refusal(option, "the file \(path) is larger than 64 KiB, or not UTF-8")
        }
        do throws(EnvironmentFile.Mistake) {
            return adding(try EnvironmentFile(text).variables)
        } catch {
            throw refusal(option, "\(error.message) (in \(path))")
        }
    }
}
