import COpenSSL

/// Passes a PEM text to OpenSSL; nil if `read` returns nil. Leaves no error in the thread's queue, which later calls
/// on this thread would report.
func readPEM<R>(_ text: some Sequence<UInt8>, _ read: (OpaquePointer) -> R?) -> R? {
    Array(text).withUnsafeBytes { bytes in
        defer { ERR_clear_error() }
        guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
        defer { BIO_free(source) }
        return read(source)
    }
}

/// Rejects an encrypted PEM text. Without this callback, OpenSSL asks for a passphrase on the terminal and waits for
/// the answer (OpenSSL manual, PEM_read_bio_PrivateKey).
func noPassphrase(
    _: UnsafeMutablePointer<CChar>?, _: CInt, isWriting: CInt, _: UnsafeMutableRawPointer?
) -> CInt { -1 }
