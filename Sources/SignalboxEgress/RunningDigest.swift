internal import COpenSSL

/// SHA-256 of bytes that come in pieces, by OpenSSL.
package struct RunningDigest: ~Copyable {
    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("No memory for a digest.") }
        precondition(EVP_DigestInit_ex2(context, sha256Algorithm, nil) == 1, "OpenSSL refused SHA-256.")
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "OpenSSL refused SHA-256.")
    }

    /// The digest of all that came, 32 bytes; to be asked once, with nothing to follow.
    package mutating func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let done = EVP_DigestFinal_ex(context, &digest, &length)
        precondition(done == 1 && length == 32, "OpenSSL refused SHA-256.")
        return digest
    }
}
