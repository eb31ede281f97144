import Foundation
import SignalboxEgress

/// A file of a ``MediaStore`` that comes in pieces; gone, unless it is kept to the end.
///
/// A class because it owns a descriptor and a file.
package final class MediaWriter: @unchecked Sendable {
    // Sendable: it has one user at a time, each done with it before the next begins.
    let path: String
    private var file: Int32
    private var digest = RunningDigest()
    private var name: String?
    private(set) var bytes = 0

    /// Makes the file, which must not be there yet.
    init(path: String) throws(MediaError) {
        self.path = path
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .lastError }
    }

    deinit { discard() }

    /// Adds to the file; what was written is not on disk yet.
    package func write(_ piece: UnsafeRawBufferPointer) throws(MediaError) {
        precondition(file >= 0 && name == nil, "The file is complete.")
        var written = 0
        while written < piece.count {
            let count = Foundation.write(file, piece.baseAddress.map { $0 + written }, piece.count - written)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .lastError }
            written += count
        }
        digest.update(piece)
        bytes += piece.count
    }

    /// SHA-256 of the whole file, as its name will be; nothing can be added any more.
    func finish() -> String {
        if let name { return name }
        let name = hexadecimal(digest.finish())
        self.name = name
        return name
    }

    /// Brings what was written to disk. Blocks.
    func sync() throws(MediaError) {
        guard fsync(file) == 0 else { throw .lastError }
    }

    /// To be called when the file has got another name.
    func release() {
        if file >= 0 { close(file) }
        file = -1
    }

    /// Removes the file, unless it was released.
    package func discard() {
        guard file >= 0 else { return }
        release()
        unlink(path)
    }
}
