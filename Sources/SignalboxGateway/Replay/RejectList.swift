import Foundation
import SignalboxJSON
package import SignalboxNotification

/// Rejected payloads of a run: counted, reported on the diagnostics, and written to a file if there is one. One task
/// owns it. It reports the first ten rejections on the diagnostics and then says once that there are more.
package struct RejectList: ~Copyable {
    /// Rejections of the whole run, earlier processes included.
    package private(set) var count: Int
    /// Length of the file.
    private(set) var bytes: Int
    private let file: FileHandle?
    private let namesInputs: Bool
    private let diagnostics: Diagnostics
    /// Rejections reported by this process, not by the whole run.
    private var reported = 0
    /// The most rejections that are reported on the diagnostics.
    private static let mostReported = 10

    /// `path`: a file for NDJSON of `{line, offset, code, message, input}`. `namesInputs`: include the input's name
    /// in diagnostics. `count`, `bytes`: number of rejections and length of the file after an earlier run; bytes
    /// after that length are removed. Throws ``ReplayError/refused(_:)`` if the file cannot be written or is shorter
    /// than `bytes`. Creates a missing file with the permissions of the process's umask.
    package init(
        path: String?, namesInputs: Bool, count: Int = 0, bytes: Int = 0, diagnostics: Diagnostics
    ) throws(ReplayError) {
        file = try path.map { (path) throws(ReplayError) in try Self.open(path, keeping: bytes) }
        (self.namesInputs, self.diagnostics, self.count, self.bytes) = (namesInputs, diagnostics, count, bytes)
    }

    /// Cuts a regular file off after `bytes` and continues there. A pipe or a device is not changed.
    private static func open(_ path: String, keeping bytes: Int) throws(ReplayError) -> FileHandle {
        func unwritable() -> ReplayError {
            .refused("Cannot write \(path): \(String(cString: strerror(errno))). Name another file with --rejects.")
        }
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw unwritable() }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        // A pipe or a device has no length.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return handle }
        guard Int(status.st_size) >= bytes else {
            throw .refused(
                "\(path) is shorter than this replay left it. Restore it, or remove the file of --resume to start over."
            )
        }
        guard ftruncate(descriptor, off_t(bytes)) == 0, lseek(descriptor, 0, SEEK_END) == off_t(bytes) else {
            throw unwritable()
        }
        return handle
    }

    /// Syncs the file to disk. Called before the progress is saved, so that the progress never counts a rejection
    /// that the file lacks.
    func sync() throws(ReplayError) {
        // A pipe cannot be synced: EINVAL.
        guard let file, fsync(file.fileDescriptor) != 0, errno != EINVAL else { return }
        throw .failed("Cannot write the file of rejections")
    }

    /// Adds a rejection of this process. `input`: the name of the input. Throws ``ReplayError/refused(_:)`` if the
    /// file cannot be written. The message quotes the payload as far as the rejection does, so the file may contain
    /// parts of payloads.
    package mutating func add(_ rejection: Rejection, in input: String) throws(ReplayError) {
        try add(rejection.code.rawValue, rejection.message, at: rejection.place, in: input)
    }

    /// Adds a rejection with the code and the message of another gateway.
    mutating func add(_ code: String, _ message: String, at place: PayloadPosition, in input: String)
        throws(ReplayError)
    {
        count += 1
        reported += 1
        if reported <= Self.mostReported {
            diagnostics.writeLine("signalbox: \(namesInputs ? "\(input), " : "")line \(place.line): \(message)")
        } else if reported == Self.mostReported + 1 {
            diagnostics.writeLine(
                "signalbox: more payloads were rejected\(file == nil ? "; --rejects FILE lists all" : "").")
        }
        guard let file else { return }
        let line = Self.line(code, message, at: place, in: input)
        guard writeAll(line, to: file.fileDescriptor) else { throw .failed("Cannot write the file of rejections") }
        bytes += line.count
    }

    /// One line of NDJSON with its line end.
    private static func line(_ code: String, _ message: String, at place: PayloadPosition, in input: String) -> [UInt8]
    {
        .jsonLine { json in
            json.member("line", place.line)
            json.member("offset", place.offset)
            json.member("code", code)
            json.member("message", message)
            json.member("input", input)
        }
    }
}

/// Writes all bytes to a descriptor; false on a failure, with its reason in `errno`.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
}

/// Writes all bytes to a descriptor; false on a failure, with its reason in `errno`. Repeats partial writes and
/// interrupted ones. Blocks while a pipe is full. A closed pipe fails with EPIPE if SIGPIPE is ignored, and ends the
/// process otherwise.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
        let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
}

/// Writes a text to a descriptor; false on a failure, with its reason in `errno`. In UTF-8, without a line end of its
/// own.
package func writeAll(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
}
