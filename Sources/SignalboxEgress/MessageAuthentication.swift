internal import COpenSSL
import Synchronization

/// HMAC-SHA256 (RFC 2104) under one key, by OpenSSL's EVP_MAC. The key is prepared once; `authenticate` may be called
/// from anywhere at the same time.
///
/// A class because it owns C handles.
package final class MessageAuthentication: @unchecked Sendable {
    // Sendable: the handle is never changed after the initialiser; each use works on a copy of it.
    private let prepared: OpaquePointer
    /// Copies that nobody uses: to make one takes longer than a code over a short text.
    private let idle = Mutex<[Copy]>([])
    private static let kept = 16
    /// Before 3.0.3 OpenSSL went on with the old message instead (github.com/openssl/openssl/issues/17811).
    private static let canStartAnew = OpenSSL_version_num() >= 0x3000_0030

    private struct Copy: @unchecked Sendable {
        // Sendable: whoever has taken it from the list is alone with it.
        let context: OpaquePointer
    }

    package init(key: [UInt8]) {
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil), let context = EVP_MAC_CTX_new(algorithm) else {
            preconditionFailure("OpenSSL has no HMAC.")
        }
        // The context holds the algorithm from here on.
        EVP_MAC_free(algorithm)
        var digest = Array("SHA256".utf8CString)
        let initialised = digest.withUnsafeMutableBufferPointer { name in
            let parameters = [
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return EVP_MAC_init(context, key, key.count, parameters)
        }
        precondition(initialised == 1, "OpenSSL refused an HMAC key.")
        prepared = context
    }

    deinit {
        idle.withLock { for copy in $0 { EVP_MAC_CTX_free(copy.context) } }
        EVP_MAC_CTX_free(prepared)
    }

    /// The 32 bytes of the code over all parts, one after the other.
    package func authenticate(_ parts: [UInt8]...) -> [UInt8] {
        let context = takeCopy()
        defer { giveBack(context) }
        for part in parts {
            precondition(EVP_MAC_update(context, part, part.count) == 1, "OpenSSL failed in an HMAC.")
        }
        return [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
            precondition(
                EVP_MAC_final(context, bytes.baseAddress, &count, bytes.count) == 1, "OpenSSL failed in an HMAC.")
        }
    }

    private func takeCopy() -> OpaquePointer {
        if let copy = idle.withLock({ $0.popLast() }) {
            // Without a key it starts anew under the one it has.
            precondition(EVP_MAC_init(copy.context, nil, 0, nil) == 1, "OpenSSL failed in an HMAC.")
            return copy.context
        }
        guard let context = EVP_MAC_CTX_dup(prepared) else { preconditionFailure("No memory for an HMAC.") }
        return context
    }

    private func giveBack(_ context: OpaquePointer) {
        let isKept = idle.withLock { idle in
            guard Self.canStartAnew, idle.count < Self.kept else { return false }
            idle.append(Copy(context: context))
            return true
        }
        if !isKept { EVP_MAC_CTX_free(context) }
    }
}

/// Compares two secrets in a time that depends on their lengths only.
package func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}
