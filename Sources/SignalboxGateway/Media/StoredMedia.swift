/// A file that is kept under the digest of what it holds.
package struct StoredMedia: Sendable, Equatable {
    /// 64 lower-case hexadecimal digits.
    package let sha256: String
    package let bytes: Int
}
