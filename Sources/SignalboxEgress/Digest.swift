internal import COpenSSL

// Fetched once and never changed or freed; otherwise OpenSSL looks the algorithm up under a lock for every digest.
nonisolated(unsafe) private let sha256Algorithm: OpaquePointer = {
    guard let algorithm = EVP_MD_fetch(nil, "SHA2-256", nil) else { preconditionFailure("OpenSSL has no SHA-256.") }
    return algorithm
}()

/// SHA-256 of some bytes: 32 bytes. Stops the process if OpenSSL fails, as ``RunningDigest`` does.
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let done = EVP_Digest(bytes, bytes.count, &digest, nil, sha256Algorithm, nil)
    precondition(done == 1, "OpenSSL failed in SHA-256.")
    return digest
}

/// SHA-256 of bytes that come in pieces. Memory use does not depend on the length of the input. A value has one
/// owner, so no locking is needed.
package struct RunningDigest: ~Copyable {
    private let context: OpaquePointer

    /// Starts a digest.
    package init() {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("Out of memory for a digest.") }
        precondition(EVP_DigestInit_ex2(context, sha256Algorithm, nil) == 1, "OpenSSL failed in SHA-256.")
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Appends a piece. The order of the pieces matters, their boundaries do not.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "OpenSSL failed in SHA-256.")
    }

    /// The digest of all pieces, 32 bytes. Call it once, as the last call.
    package mutating func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        precondition(EVP_DigestFinal_ex(context, &digest, nil) == 1, "OpenSSL failed in SHA-256.")
        return digest
    }
}

/// Bytes as lower-case hexadecimal digits, two for each. The result always has twice as many characters as there are
/// bytes.
@inlinable
package func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
    // Inlinable, so that it is specialised for each collection; otherwise every byte costs a witness call.
    let digits: StaticString = "0123456789abcdef"
    return String(unsafeUninitializedCapacity: bytes.count * 2) { text in
        for (position, byte) in bytes.enumerated() {
            text[position * 2] = digits.utf8Start[Int(byte >> 4)]
            text[position * 2 + 1] = digits.utf8Start[Int(byte & 0xF)]
        }
        return bytes.count * 2
    }
}

/// Unpredictable bytes from OpenSSL's generator. Suitable for keys and tokens. Stops the process if the generator
/// fails, instead of returning weak bytes.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
        precondition(RAND_bytes(bytes.baseAddress, Int32(count)) == 1, "OpenSSL has no random numbers.")
        written = count
    }
}

/// Compares two secrets in a time that depends only on their lengths. Returns false at once if the lengths differ, so
/// only the length of a secret can leak.
package func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}
