internal import COpenSSL
import Synchronization

/// Whether a server has announced the end of a TLS connection (`close_notify`). Without the announcement, a body that
/// ends with its connection may be cut (RFC 9112, 9.8). For libcurl, a body is whole at any end: it sets
/// `SSL_OP_IGNORE_UNEXPECTED_EOF`, and its own BIO hides the end from OpenSSL.
///
/// A class because OpenSSL's object and a transfer share it.
final class CloseNotice: Sendable {
    private let isReceived = Atomic(false)

    private init() {}

    /// True once the announcement has arrived, even after the connection has closed.
    var hasArrived: Bool { isReceived.load(ordering: .relaxed) }

    /// The notice of a connection, the same one for each call. `ssl`: OpenSSL's object, which is in use. OpenSSL keeps
    /// the notice as long as the object.
    static func of(_ ssl: UnsafeMutableRawPointer) -> CloseNotice {
        let ssl = OpaquePointer(ssl)
        if let known = SSL_get_ex_data(ssl, index) { return Unmanaged.fromOpaque(known).takeUnretainedValue() }
        let notice = CloseNotice()
        let kept = Unmanaged.passRetained(notice)
        guard SSL_set_ex_data(ssl, index, kept.toOpaque()) == 1 else {
            kept.release()
            return notice
        }
        SSL_set_info_callback(ssl, onInfo)
        return notice
    }

    /// The place of the notice in each of OpenSSL's objects.
    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil) { _, kept, _, _, _, _ in
        if let kept { Unmanaged<CloseNotice>.fromOpaque(kept).release() }
    }

    /// OpenSSL calls this with each alert, among others. The lower byte of `value` is the alert.
    private static let onInfo: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = { ssl, event, value in
        guard event == SSL_CB_READ_ALERT, value & 0xFF == SSL_AD_CLOSE_NOTIFY,
            let kept = SSL_get_ex_data(ssl, index)
        else { return }
        Unmanaged<CloseNotice>.fromOpaque(kept).takeUnretainedValue().isReceived.store(true, ordering: .relaxed)
    }
}
