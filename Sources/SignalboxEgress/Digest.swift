internal import COpenSSL

// Fetched once and never freed: without, OpenSSL looks the algorithm up under a lock for every digest. Nobody writes to it.
nonisolated(unsafe) let sha256Algorithm: OpaquePointer = {
    guard let algorithm = EVP_MD_fetch(nil, "SHA2-256", nil) else { preconditionFailure("OpenSSL has no SHA-256.") }
    return algorithm
}()

/// SHA-256 of some bytes, by OpenSSL: 32 bytes.
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    let done = EVP_Digest(bytes, bytes.count, &digest, &length, sha256Algorithm, nil)
    precondition(done == 1 && length == 32, "OpenSSL refused SHA-256.")
    return digest
}

/// Bytes as lower-case hexadecimal digits, two for each.
@inlinable
package func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
    // Inlinable so that it is compiled for each kind of collection: else every byte costs a call through its witness.
    let digits: StaticString = "0123456789abcdef"
    return String(unsafeUninitializedCapacity: bytes.count * 2) { text in
        for (position, byte) in bytes.enumerated() {
            text[position * 2] = digits.utf8Start[Int(byte >> 4)]
            text[position * 2 + 1] = digits.utf8Start[Int(byte & 0xF)]
        }
        return bytes.count * 2
    }
}
