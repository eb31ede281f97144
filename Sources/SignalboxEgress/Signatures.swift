import COpenSSL

/// Whether a key signed a message. `digest`: OpenSSL's name of it; nil for algorithms with a digest of their own.
func isSignature(_ signature: [UInt8], of message: [UInt8], by key: OpaquePointer, digest: String?) -> Bool {
    withDigestContext { context in
        // A wrong signature leaves errors in the queue of the thread, which libcurl would report.
        defer { ERR_clear_error() }
        return EVP_DigestVerifyInit_ex(context, nil, digest, nil, nil, key, nil) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

/// Runs `body` with a new digest context and frees it afterwards. A context serves one signature only.
func withDigestContext<R>(_ body: (OpaquePointer) -> R) -> R {
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("Out of memory for a signature.") }
    defer { EVP_MD_CTX_free(context) }
    return body(context)
}
