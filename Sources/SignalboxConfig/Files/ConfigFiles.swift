import Foundation
import SignalboxNotification

/// The files of a config: its own, and those in the folder `routes.d` next to it. A snapshot: later changes of the
/// files have no effect on it.
package struct ConfigFiles: Sendable {
    /// Name of the folder.
    package static let folderName = "routes.d"
    /// The most files in the folder.
    static let mostParts = 200

    /// The config's own file first, the others in the order of the bytes of their names.
    package let texts: [ConfigText]
    /// The folder's path; it need not exist.
    package let folder: String

    /// Reads all files. Their sizes and contents are not checked. Throws for a missing or unreadable file, and for
    /// more than 200 files in the folder. Reads 16 MiB and one byte at most. `path` may be relative. Only files that
    /// end in `.json` and do not begin with a dot are read from the folder; subfolders are not. A file beyond the
    /// limit is cut, and the reader then rejects the config. `orPipe`: the config's own file may be a pipe, and this
    /// blocks until it has a writer. For the first read of a command only: a gateway that runs must not block.
    package init(_ path: String, orPipe: Bool = false) throws(ConfigRefusal) {
        let text: [UInt8]
        do throws(UnreadableFile) {
            text = try ConfigText.contents(of: path, upTo: ConfigBounds.bytes + 1, orPipe: orPipe)
        } catch {
            throw ConfigRefusal(
                error.isMissing
                    ? "\(path): there is no such file. Write one with signalbox init, or name another with --config."
                    : "\(path) cannot be read: \(error.reason). Correct that, or name another file with --config.")
        }
        let parent = path.parentPath
        try self.init(
            ConfigText(name: path, bytes: text),
            folder: parent.isEmpty || parent == "/" ? parent + Self.folderName : parent + "/" + Self.folderName)
    }

    /// A config whose own file is a text, with the files of a folder. Throws as ``init(_:)`` does for the folder. A
    /// folder that does not exist has no files.
    package init(_ own: ConfigText, folder: String) throws(ConfigRefusal) {
        self.folder = folder
        var texts = [own]
        // One byte beyond the limit, so that the reader reports the file that exceeds it.
        var left = max(ConfigBounds.bytes + 1 - own.bytes.count, 0)
        for name in try Self.names(in: folder) {
            let part = folder + "/" + name
            let text: [UInt8]
            do throws(UnreadableFile) { text = try ConfigText.contents(of: part, upTo: left) } catch {
                throw ConfigRefusal(
                    "\(part) cannot be read: \(error.reason). It belongs to the config, because it is in "
                        + "\(Self.folderName).")
            }
            texts.append(ConfigText(name: part, bytes: text))
            left -= text.count
        }
        self.texts = texts
    }

    /// Sorted by bytes, so that the order does not depend on the machine's language. Files of editors begin with a dot.
    /// Throws for a file in place of the folder, and for a dangling link: their routes would be missing silently.
    private static func names(in folder: String) throws(ConfigRefusal) -> [String] {
        if let error = folder.lookupError {
            let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: folder)) != nil
            guard error != ENOENT || isLink else { return [] }
            throw unreadable(folder, UnreadableFile(error).reason)
        }
        var isDirectory: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory)
        guard isDirectory.boolValue else { throw unreadable(folder, "it is not a folder") }
        guard let all = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw ConfigRefusal("\(folder) cannot be read; files in it belong to the config.")
        }
        let names = all.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
        guard names.count <= mostParts else {
            throw ConfigRefusal(
                "\(folder) has \(names.count) files; at most \(mostParts) are read. Merge some of them.")
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// `reason`: a clause without a full stop.
    private static func unreadable(_ folder: String, _ reason: String) -> ConfigRefusal {
        ConfigRefusal("\(folder) cannot be read: \(reason). Files in it belong to the config.")
    }
}

/// The reasons why a config cannot be used. ``problems`` are for logs; ``report(hasColor:)`` is for the terminal of
/// an operator. Thrown for a config that cannot be read, that has errors, or whose secrets cannot be resolved.
package struct ConfigRefusal: Error, Sendable {
    /// One line for each problem, without values of the config: a secret may be in it by mistake.
    package let problems: [String]
    /// See ``InvalidConfig/namedFiles``.
    package let namedFiles: [String]
    /// Empty for a refusal that is a single sentence.
    private let mistakes: [ConfigMistake]
    /// The files that were read, as far as they are known. They may have secrets by mistake: show no text of them.
    package let files: [ConfigText]

    /// `sentence`: the problem and the remedy.
    package init(_ sentence: String) {
        problems = [sentence]
        namedFiles = []
        mistakes = []
        files = []
    }

    /// `files`: those that the config was read from, in their order.
    package init(_ error: InvalidConfig, in files: [ConfigText]) {
        problems = ConfigReport.lines(of: error.mistakes, in: files.map(\.name))
        mistakes = error.mistakes
        namedFiles = error.namedFiles
        self.files = files
    }

    /// The report for standard error, with the lines of the config, and line ends.
    package func report(hasColor: Bool) -> String {
        guard !mistakes.isEmpty else { return problems.map { "signalbox: \($0)\n" }.joined() }
        let report = ConfigReport(of: files, hasColor: hasColor)
        return report.text(of: mistakes) + report.summary(of: mistakes)
    }
}
