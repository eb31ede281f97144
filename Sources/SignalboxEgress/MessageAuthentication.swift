internal import COpenSSL
import Synchronization

/// HMAC-SHA256 (RFC 2104) under one key. Prepares the key once. Safe to use from any number of threads at once.
///
/// A class because it owns C handles.
package final class MessageAuthentication: @unchecked Sendable {
    // Sendable: the prepared context never changes; each use works on a copy, which one thread has at a time.
    private let prepared: OpaquePointer
    /// Idle copies: making one takes longer than authenticating a short text.
    private let idle = Mutex<[Copy]>([])
    /// Bound on idle copies; a copy that is released beyond it is freed.
    private static let maximumIdle = 16
    /// Before 3.0.3 OpenSSL continued the old message instead (github.com/openssl/openssl/issues/17811).
    private static let canStartAgain = OpenSSL_version_num() >= 0x3000_0030

    // Sendable: a copy is in `idle` or in use by one thread, never both.
    private struct Copy: @unchecked Sendable {
        let context: OpaquePointer
    }

    /// `key`: a key of any length.
    package init(key: [UInt8]) {
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil), let context = EVP_MAC_CTX_new(algorithm) else {
            preconditionFailure("OpenSSL has no HMAC.")
        }
        // The context holds a reference of its own.
        EVP_MAC_free(algorithm)
        precondition(sb_hmac_sha256_init(context, key, key.count) == 1, "OpenSSL rejected an HMAC key.")
        prepared = context
    }

    deinit {
        idle.withLock { for copy in $0 { EVP_MAC_CTX_free(copy.context) } }
        EVP_MAC_CTX_free(prepared)
    }

    /// The code of all parts as one message, 32 bytes. The boundaries of the parts do not matter. Takes a lock twice,
    /// briefly, and computes outside it.
    package func authenticate(_ parts: [UInt8]...) -> [UInt8] {
        let context = takeCopy()
        defer { release(context) }
        for part in parts {
            precondition(EVP_MAC_update(context, part, part.count) == 1, "OpenSSL failed in an HMAC.")
        }
        return [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
            precondition(
                EVP_MAC_final(context, bytes.baseAddress, &count, bytes.count) == 1, "OpenSSL failed in an HMAC.")
        }
    }

    /// Returns a context that holds the key and no message. The caller owns it until ``release(_:)``.
    private func takeCopy() -> OpaquePointer {
        if let copy = idle.withLock({ $0.popLast() }) {
            // Without a key it starts again with its own.
            precondition(EVP_MAC_init(copy.context, nil, 0, nil) == 1, "OpenSSL failed in an HMAC.")
            return copy.context
        }
        guard let context = EVP_MAC_CTX_dup(prepared) else { preconditionFailure("Out of memory for an HMAC.") }
        return context
    }

    /// Returns a context to the idle copies, or frees it.
    private func release(_ context: OpaquePointer) {
        let isKept = idle.withLock { idle in
            guard Self.canStartAgain, idle.count < Self.maximumIdle else { return false }
            idle.append(Copy(context: context))
            return true
        }
        if !isKept { EVP_MAC_CTX_free(context) }
    }
}
