import Foundation
package import SignalboxNotification

extension MediaStore {
    /// A file with what its own bytes tell of it. Blocks while it reads.
    package func describe(_ media: StoredMedia, as kind: MediaKind) throws(MediaError) -> MediaFile {
        let file = open(path(of: media), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .lastError }
        defer { close(file) }
        let measures = try MediaMeasures(of: file, kind: kind, bytes: media.bytes)
        return MediaFile(
            sha256: media.sha256, bytes: media.bytes, contentType: kind.contentType, width: measures.width,
            height: measures.height, milliseconds: measures.milliseconds)
    }
}
