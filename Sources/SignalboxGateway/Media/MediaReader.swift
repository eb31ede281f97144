import Foundation

/// An open file of a ``MediaStore``, which stays readable if it is removed. Usable from any thread.
///
/// A class because it owns a descriptor.
package final class MediaReader: Sendable {
    private let file: Int32

    /// Throws if the file was removed. Blocks.
    package init(_ media: StoredMedia, in store: MediaStore) throws(MediaError) {
        file = open(store.path(of: media), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .lastError }
    }

    deinit { if file >= 0 { close(file) } }

    /// Up to `count` bytes from an offset, fewer at the end of the file. Blocks.
    package func bytes(at offset: Int, upTo count: Int) throws(MediaError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var length = 0
        while length < count {
            let more = bytes.withUnsafeMutableBytes { buffer in
                pread(file, buffer.baseAddress.map { $0 + length }, count - length, off_t(offset + length))
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw .lastError }
            if more == 0 { break }
            length += more
        }
        return Array(bytes.prefix(length))
    }
}
