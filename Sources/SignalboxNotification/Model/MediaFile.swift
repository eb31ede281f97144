/// A file that is kept under the digest of what it holds, with what its own bytes tell of it.
package struct MediaFile: Sendable, Equatable {
    /// SHA-256, 64 lower-case hexadecimal digits.
    package var sha256: String
    package var bytes: Int
    /// MIME type, by content.
    package var contentType: String
    /// In pixels.
    package var width: Int?
    package var height: Int?
    package var milliseconds: Int?

    package init(
        sha256: String, bytes: Int, contentType: String, width: Int? = nil, height: Int? = nil,
        milliseconds: Int? = nil
    ) {
        self.sha256 = sha256
        self.bytes = bytes
        self.contentType = contentType
        self.width = width
        self.height = height
        self.milliseconds = milliseconds
    }
}
