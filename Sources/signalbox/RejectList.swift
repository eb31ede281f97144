import ArgumentParser
import Foundation
import SignalboxJSON
import SignalboxNotification

/// Payloads that could not be read: counted, told on standard error, and written to a file when there is one.
struct RejectList: ~Copyable {
    private(set) var count: Int
    /// Length of the file.
    private(set) var bytes: Int
    private let file: FileHandle?
    private let several: Bool
    private var told = 0
    private static let mostTold = 10

    /// `path`: for NDJSON of `{line, offset, code, message, input}`. `several`: whether to name the input when it is told.
    /// `count` and `bytes`: what an earlier run had found, and how long the file was then; what stands behind goes.
    init(path: String?, several: Bool, count: Int = 0, bytes: Int = 0) throws(ExitCode) {
        file = try path.map { (path) throws(ExitCode) in try Self.open(path, keeping: bytes) }
        self.several = several
        self.count = count
        self.bytes = bytes
    }

    private static func open(_ path: String, keeping bytes: Int) throws(ExitCode) -> FileHandle {
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw refuse("\(path) cannot be written; name another file with --rejects.") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        // What is no plain file, such as a pipe, has no length and takes what comes.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return handle }
        guard Int(status.st_size) >= bytes else {
            throw refuse(
                "\(path) is shorter than this replay left it; restore it, or remove the file of --resume to begin anew."
            )
        }
        guard ftruncate(descriptor, off_t(bytes)) == 0, lseek(descriptor, 0, SEEK_END) == off_t(bytes) else {
            throw refuse("\(path) cannot be written; name another file with --rejects.")
        }
        return handle
    }

    /// Puts what was written on disk.
    func sync() throws(ExitCode) {
        guard let file else { return }
        // A pipe cannot, and need not.
        guard fsync(file.fileDescriptor) == 0 || errno == EINVAL else {
            throw refuse("the file of rejects cannot be written: \(String(cString: strerror(errno))).")
        }
    }

    mutating func add(_ rejection: Rejection, in input: String) throws(ExitCode) {
        try add(rejection.code.rawValue, rejection.message, at: rejection.place, in: input)
    }

    /// As above, in the words of somebody else.
    mutating func add(_ code: String, _ message: String, at place: Place, in input: String) throws(ExitCode) {
        count += 1
        told += 1
        if told <= Self.mostTold {
            StandardError.writeLine(
                "signalbox: \(several ? "\(input), " : "")line \(place.line): \(message)")
        } else if told == Self.mostTold + 1 {
            StandardError.writeLine(
                "signalbox: more payloads were rejected\(file == nil ? "; --rejects FILE lists all" : "").")
        }
        guard let file else { return }
        let line = Self.line(code, message, at: place, in: input)
        try Self.write(line, to: file.fileDescriptor)
        bytes += line.count
    }

    private static func write(_ line: [UInt8], to descriptor: Int32) throws(ExitCode) {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw refuse("the file of rejects cannot be written: \(String(cString: strerror(errno))).")
            }
            rest = rest.dropFirst(count)
        }
    }

    private static func line(_ code: String, _ message: String, at place: Place, in input: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("line")
        json.integer(place.line)
        json.key("offset")
        json.integer(place.offset)
        json.key("code")
        json.string(code)
        json.key("message")
        json.string(message)
        json.key("input")
        json.string(input)
        json.endObject()
        json.newline()
        return json.bytes
    }
}
