import ArgumentParser
import Foundation
import SignalboxJSON
import SignalboxModel

/// Payloads that could not be read: counted, told on standard error, and written to a file when there is one.
struct RejectList: ~Copyable {
    private(set) var count = 0
    private let file: FileHandle?
    private let several: Bool
    private static let told = 10

    /// `path`: for NDJSON of `{file, line, offset, code, message}`. `several`: whether to name the input.
    init(path: String?, several: Bool) throws(ExitCode) {
        self.several = several
        guard let path else {
            file = nil
            return
        }
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw refuse("\(path) cannot be written; name another file with --rejects.") }
        file = handle
    }

    mutating func add(_ rejection: Rejection, in input: String) throws(ExitCode) {
        count += 1
        if count <= Self.told {
            StandardError.write(
                "signalbox: \(several ? "\(input), " : "")line \(rejection.place.line): \(rejection.message)\n")
        } else if count == Self.told + 1 {
            StandardError.write(
                "signalbox: more payloads were rejected\(file == nil ? "; --rejects FILE lists all" : "").\n")
        }
        guard let file else { return }
        do {
            try file.write(contentsOf: Data(Self.line(rejection, in: input)))
        } catch {
            throw refuse("the file of rejects cannot be written: \(error.localizedDescription).")
        }
    }

    private static func line(_ rejection: Rejection, in input: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("file")
        json.string(input)
        json.key("line")
        json.integer(rejection.place.line)
        json.key("offset")
        json.integer(rejection.place.offset)
        json.key("code")
        json.string(rejection.code.rawValue)
        json.key("message")
        json.string(rejection.message)
        json.endObject()
        json.newline()
        return json.bytes
    }
}
