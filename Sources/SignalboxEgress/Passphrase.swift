import COpenSSL

/// Rejects an encrypted PEM text. Without this callback, OpenSSL asks for a passphrase on the terminal and waits for
/// the answer (OpenSSL manual, PEM_read_bio_PrivateKey).
func noPassphrase(
    _: UnsafeMutablePointer<CChar>?, _: CInt, isWriting: CInt, _: UnsafeMutableRawPointer?
) -> CInt { -1 }
