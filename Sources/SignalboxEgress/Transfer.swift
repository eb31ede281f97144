internal import CCurl
import Foundation
import SignalboxModel

/// One request on its way: everything that libcurl points to while it lasts.
///
/// A class because C callbacks get its address.
final class Transfer: @unchecked Sendable {
    // Sendable: made by the caller, then touched by the client's thread only, until it resumes the continuation.
    private let request: OutboundRequest
    private let policy: AddressPolicy
    private let completion: CheckedContinuation<Result<OutboundReply, TransportError>, Never>
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var excerpt: [UInt8] = []
    private var received = 0
    private var denial: String?
    /// Whether any of the name's addresses might be connected to: then it was not the policy that failed the request.
    private var wasAllowed = false
    /// Why the system gave us no socket.
    private var exhaustion: String?
    private var errorText = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))

    private static let keptBytes = 1024
    /// A reply longer than this is cut: its status is known by then, and nobody reads the rest.
    private static let maximumBytes = 256 * 1024

    init(
        _ request: OutboundRequest, policy: AddressPolicy,
        completion: CheckedContinuation<Result<OutboundReply, TransportError>, Never>
    ) {
        self.request = request
        self.policy = policy
        self.completion = completion
    }

    deinit { curl_slist_free_all(headers) }

    /// Sets a fresh or reset handle up for this request; false when libcurl refuses it.
    func prepare(_ handle: UnsafeMutableRawPointer) -> Bool {
        let context = Unmanaged.passUnretained(self).toOpaque()
        var codes = [
            sb_curl_set_string(handle, CURLOPT_URL, request.url),
            sb_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
            sb_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            // The empty string, unlike nothing, also keeps libcurl from the environment's proxies.
            sb_curl_set_string(handle, CURLOPT_PROXY, ""),
            sb_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            sb_curl_set_long(handle, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2),
            sb_curl_set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS),
            sb_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(request.timeout.wholeMilliseconds)),
            sb_curl_set_long(
                handle, CURLOPT_CONNECTTIMEOUT_MS, Int(min(request.timeout, .seconds(10)).wholeMilliseconds)),
            sb_curl_set_pointer(handle, CURLOPT_PRIVATE, context),
            sb_curl_set_write_callback(handle, Self.onWrite, context),
            sb_curl_set_socket_callback(handle, Self.onOpenSocket, context),
            errorText.withUnsafeMutableBufferPointer {
                sb_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, $0.baseAddress)
            },
        ]
        codes += setHeaders(handle) + setBody(handle)
        return codes.allSatisfy { $0 == CURLE_OK }
    }

    private func setHeaders(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        for (name, value) in request.headers {
            headers = curl_slist_append(headers, "\(name): \(value)")
        }
        // Without this, libcurl waits for a 100 before it sends a large body.
        headers = curl_slist_append(headers, "expect:")
        return [sb_curl_set_list(handle, CURLOPT_HTTPHEADER, headers)]
    }

    private func setBody(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        guard request.method == .post else { return [sb_curl_set_long(handle, CURLOPT_HTTPGET, 1)] }
        // libcurl reads the body where it lies; `request` keeps it there for as long as this object lives.
        let body = request.body.withUnsafeBytes { UnsafeMutableRawPointer(mutating: $0.baseAddress) }
        return [
            sb_curl_set_long(handle, CURLOPT_POST, 1),
            sb_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)),
            sb_curl_set_pointer(handle, CURLOPT_POSTFIELDS, body),
        ]
    }

    // MARK: The end

    /// What libcurl says of the finished transfer; to be asked before the handle is reset.
    func result(_ code: CURLcode, of handle: UnsafeMutableRawPointer) -> Result<OutboundReply, TransportError> {
        var status = 0
        sb_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        let wasCut = code == CURLE_WRITE_ERROR && received > Self.maximumBytes
        guard code == CURLE_OK || wasCut else { return .failure(error(code)) }
        return .success(
            OutboundReply(
                status: status, excerpt: excerpt,
                retryAfter: header("retry-after", of: handle).flatMap { RetryAfter($0) }))
    }

    /// Answers the caller.
    func finish(_ result: Result<OutboundReply, TransportError>) { completion.resume(returning: result) }

    func fail(_ error: TransportError) { finish(.failure(error)) }

    private func header(_ name: String, of handle: UnsafeMutableRawPointer) -> String? {
        var found: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(handle, name, 0, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK, let found else {
            return nil
        }
        return String(cString: found.pointee.value)
    }

    private func error(_ code: CURLcode) -> TransportError {
        let detail = String(decoding: errorText.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let words = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        if let denial, !wasAllowed { return .denied(denial) }
        if let exhaustion { return .exhausted(exhaustion) }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: return .unresolved(words)
        case CURLE_COULDNT_CONNECT: return .refused(words)
        case CURLE_OPERATION_TIMEDOUT: return .timeout(words)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            return .tls(words)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_FUNCTION_ARGUMENT: return .unusable(words)
        default: return .interrupted(words)
        }
    }

    // MARK: Callbacks

    private static let onWrite: curl_write_callback = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        let length = size * count
        transfer.received += length
        let room = min(length, keptBytes - transfer.excerpt.count)
        if room > 0 { transfer.excerpt.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: room)) }
        return transfer.received > maximumBytes ? 0 : length
    }

    private static let onOpenSocket: curl_opensocket_callback = { context, _, address in
        guard let context, let address else { return curl_socket_t(-1) }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        guard let ip = IPAddress(socketAddress: &address.pointee.addr) else {
            transfer.denial = "not an IP address"
            return curl_socket_t(-1)
        }
        if case .denied(let reason) = transfer.policy.verdict(for: ip) {
            transfer.denial = "\(ip) is \(reason); egress.allow in the config can name it"
            return curl_socket_t(-1)
        }
        transfer.wasAllowed = true
        let descriptor = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
        if descriptor < 0, errno == EMFILE || errno == ENFILE { transfer.exhaustion = String(cString: strerror(errno)) }
        return descriptor
    }
}

extension IPAddress {
    fileprivate init?(socketAddress: UnsafePointer<sockaddr>) {
        switch Int32(socketAddress.pointee.sa_family) {
        case AF_INET:
            self = socketAddress.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin_addr) { IPAddress(bytes: Array($0)) }
            }
        case AF_INET6:
            self = socketAddress.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { IPAddress(bytes: Array($0)) }
            }
        default: return nil
        }
    }
}

extension Duration {
    /// For libcurl, to which 0 would mean for ever.
    fileprivate var wholeMilliseconds: Int64 {
        max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
