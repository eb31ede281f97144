internal import COpenSSL

/// SHA-256 of some bytes, by OpenSSL: 32 bytes.
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    let done = EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil)
    precondition(done == 1 && length == 32, "OpenSSL refused SHA-256.")
    return digest
}
