internal import CCurl
import Foundation
import SignalboxNotification

/// One request in progress: owns everything that libcurl points to meanwhile.
///
/// A class because C callbacks get its address.
final class Transfer: @unchecked Sendable {
    // Sendable: after the initialiser only the client's thread uses it.
    /// Kept alive for libcurl, which reads the body in place.
    let request: OutboundRequest
    private let policy: AddressPolicy
    let sockets: OpenSockets
    private var completion: Completion?
    /// Durations count from here.
    let begun = ContinuousClock.now
    /// libcurl's handle, from ``prepare(_:)`` on.
    private(set) var handle: UnsafeMutableRawPointer?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var body = Body.awaited
    /// The beginning of the body, up to the request's bound.
    var excerpt: [UInt8] = []
    /// Bytes of a body without a sink.
    private var received = 0
    /// Counts all header lines, interim responses included.
    var headerBytes = 0
    var headerLines = 0
    /// Whether the empty line after the last status line has arrived. Trailers do not change it.
    private(set) var hasWholeHead = false
    /// The last address that a socket was opened for.
    var lastTried: String?
    /// Why the policy denied an address.
    var denial: String?
    /// True when the policy allowed one of the name's addresses: then a denial is not why the request failed.
    var wasAllowed = false
    /// Why the system has no socket.
    var exhaustion: String?
    /// Descriptors that were opened for the request.
    private(set) var opened: [Int32] = []
    /// Why the request was not sent on the connection that libcurl chose last.
    var rejection: Rejection?
    /// The connection on which libcurl began to send the request; nil before.
    var start: Start?
    /// Whether the request line named the whole URL, as only proxies require (RFC 9112, 3.2.2). Nil before it was sent.
    /// Known for requests without TLS that use the proxy of the environment, whose exceptions libcurl applies.
    var namedWholeURL: Bool?
    /// The end of the TLS connection that the sink's body arrives on; nil without a sink, and without TLS.
    var closeNotice: CloseNotice?
    /// libcurl writes its error here, ending in zero.
    var errorText = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))

    /// The receiver of the response's body. `awaited` until the first bytes come; then `excerpt` for ordinary
    /// responses.
    private enum Body {
        case awaited, excerpt
        case sink(ReplySink)
        /// The sink ended the body.
        case refused
    }

    /// Called once for each transfer. It must not block.
    typealias Completion = @Sendable (OutboundResult) -> Void

    /// Bounds of all header lines together. libcurl's own are 100 KiB a line in HTTP/1, and 128 KiB in HTTP/2.
    static let maximumHeaderBytes = 64 * 1024
    static let maximumHeaderLines = 256
    /// Without a sink, a longer body is not read unless the request keeps more: the status is known by then.
    private static let maximumBytes = 256 * 1024

    /// The time of the request counts from here, including the wait for the thread.
    init(_ request: OutboundRequest, policy: AddressPolicy, sockets: OpenSockets, completion: @escaping Completion) {
        (self.request, self.policy, self.sockets, self.completion) = (request, policy, sockets, completion)
    }

    deinit { curl_slist_free_all(headers) }

    /// Passes the result to the caller, and forgets the caller.
    func finish(_ result: OutboundResult) { completion.take()?(result) }

    // MARK: Preparation

    /// Sets up a fresh or reset handle for this request. Throws ``TransportError/denied(_:)`` if the URL names a
    /// denied address, and ``TransportError/unusable(_:)`` if libcurl rejects an option. Repeated requests call it
    /// again, with another handle.
    func prepare(_ handle: UnsafeMutableRawPointer) throws(TransportError) {
        // Behind a proxy no socket leads to the server, so the policy can only judge an address in the URL.
        if request.transport.proxy != .none, let address = OutboundURL.literalAddress(in: request.url),
            let denial = denial(of: address)
        {
            throw .denied(denial)
        }
        self.handle = handle
        // A repeated request was prepared before.
        curl_slist_free_all(headers)
        (headers, opened, start, hasWholeHead, namedWholeURL) = (nil, [], nil, false, nil)
        let context = Unmanaged.passUnretained(self).toOpaque()
        // libcurl 7.88 may stall HTTP/2 streams that share a connection with a long body, as sinks receive.
        let version = request.sink == nil ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        // A repeated request has the rest of its time. At least 1, because libcurl takes 0 for no timeout.
        let timeout = Int(max(1, (request.timeout - (.now - begun)) / .milliseconds(1)))
        var codes = [
            sb_curl_set_string(handle, CURLOPT_URL, request.url),
            sb_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
            sb_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            sb_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            // Otherwise libcurl blocks this thread, and every transfer, until a pending name lookup ends.
            sb_curl_set_long(handle, CURLOPT_QUICK_EXIT, 1),
            sb_curl_set_long(handle, CURLOPT_HTTP_VERSION, version),
            sb_curl_set_long(handle, CURLOPT_TIMEOUT_MS, timeout),
            sb_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, min(timeout, 10_000)),
            sb_curl_set_pointer(handle, CURLOPT_PRIVATE, context),
            sb_curl_set_write_callback(handle, Self.onWrite, context),
            sb_curl_set_header_callback(handle, Self.onHeader, context),
            sb_curl_set_socket_callback(handle, Self.onOpenSocket, context),
            sb_curl_set_ready_callback(handle, Self.onReady, context),
            errorText.withUnsafeMutableBufferPointer {
                $0[0] = 0
                return sb_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, $0.baseAddress)
            },
        ]
        if let seconds = request.longestSilence { codes += setSlowest(handle, (bytesPerSecond: 1, seconds: seconds)) }
        if rejection == .leftovers { codes.append(sb_curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)) }
        if request.isVerbatim { codes.append(sb_curl_set_long(handle, CURLOPT_PATH_AS_IS, 1)) }
        // Concurrent requests of a group wait for its connection instead of opening others.
        if request.group != nil { codes.append(sb_curl_set_long(handle, CURLOPT_PIPEWAIT, 1)) }
        if request.transport.proxy == .environment, isPlain {
            codes.append(sb_curl_set_debug_callback(handle, Self.onDebug, context))
        }
        codes += request.transport.apply(to: handle) + setHeaders(handle) + setBody(handle)
        guard codes.allSatisfy({ $0 == CURLE_OK }) else { throw .unusable("libcurl refused it") }
    }

    /// Adds the request's headers, and turns `Expect: 100-continue` off.
    private func setHeaders(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        for (name, value) in request.headers {
            // libcurl reads a colon without a value as the wish to remove the header.
            headers = curl_slist_append(headers, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if request.isVerbatim {
            for name in ["accept", "content-type"] where !request.headers.contains(where: { $0.name == name }) {
                headers = curl_slist_append(headers, "\(name):")
            }
        }
        // Otherwise libcurl waits for a 100 before it sends a large body.
        headers = curl_slist_append(headers, "expect:")
        return [sb_curl_set_list(handle, CURLOPT_HTTPHEADER, headers)]
    }

    /// libcurl ends a transfer that stays below this pace.
    private func setSlowest(_ handle: UnsafeMutableRawPointer, _ slowest: OutboundRequest.Pace) -> [CURLcode] {
        [
            sb_curl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, slowest.bytesPerSecond),
            sb_curl_set_long(handle, CURLOPT_LOW_SPEED_TIME, slowest.seconds),
        ]
    }

    /// GET and OPTIONS have no body.
    private func setBody(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        guard request.method == .post else {
            let get = sb_curl_set_long(handle, CURLOPT_HTTPGET, 1)
            guard request.method == .options else { return [get] }
            return [get, sb_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, "OPTIONS")]
        }
        // libcurl reads the body in place; `request` keeps it alive as long as this object.
        let body = request.body.withUnsafeBytes { UnsafeMutableRawPointer(mutating: $0.baseAddress) }
        return [
            sb_curl_set_long(handle, CURLOPT_POST, 1),
            sb_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)),
            sb_curl_set_pointer(handle, CURLOPT_POSTFIELDS, body),
        ]
    }

    /// Why the policy denies an address; nil when it allows it. The text names the option of the config that can
    /// allow the address.
    private func denial(of address: IPAddress) -> String? {
        policy.denial(of: address).map { "\(address) is \($0); egress.allow in the config can name it" }
    }

    // MARK: Callbacks

    static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returning fewer bytes than given makes libcurl end the transfer with `CURLE_WRITE_ERROR`.
    private static let onWrite: curl_write_callback = { bytes, size, count, context in
        guard let bytes, let transfer = of(context) else { return 0 }
        transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
        return transfer.takesMore ? size * count : 0
    }

    /// Passes bytes to the sink, or keeps them for the excerpt up to the request's bound.
    private func receive(_ bytes: UnsafeRawBufferPointer) {
        if case .awaited = body { body = beginBody() }
        switch body {
        case .awaited, .refused: break
        case .sink(let sink): if !sink.receive(bytes) { body = .refused }
        case .excerpt:
            received += bytes.count
            excerpt.append(contentsOf: bytes.prefix(max(0, request.keptBytes - excerpt.count)))
        }
    }

    /// Chooses the receiver of the body, once the headers are known. Only status 200 goes to the sink.
    private func beginBody() -> Body {
        guard let sink = request.sink, let handle, Self.number(CURLINFO_RESPONSE_CODE, of: handle) == 200 else {
            return .excerpt
        }
        // Not before: libcurl's clock would also count the time until the server answers.
        if let slowest = request.slowest { _ = setSlowest(handle, slowest) }
        var announced: curl_off_t = -1
        sb_curl_get_offset(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced)
        let head = ReplySink.Head(
            headers: keptHeaders(of: handle), announcedBytes: announced < 0 ? nil : Int(announced))
        return sink.begin(head) ? .sink(sink) : .refused
    }

    /// False when the sink ended the body, or the body is longer than ``maximumBytes`` and than the kept bytes.
    var takesMore: Bool {
        if case .refused = body { return false }
        return received <= max(Self.maximumBytes, request.keptBytes)
    }

    /// True until the first bytes of the body come.
    var awaitsBody: Bool { if case .awaited = body { true } else { false } }

    /// libcurl calls this with each header line. It counts lines of interim responses as well.
    private static let onHeader: curl_write_callback = { bytes, size, count, context in
        guard let transfer = of(context) else { return 0 }
        transfer.headerBytes += size * count
        transfer.headerLines += 1
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        if line.starts(with: "HTTP/".utf8) {
            transfer.hasWholeHead = false
        } else if line.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) {
            transfer.hasWholeHead = true
        }
        return transfer.hasTooManyHeaders ? 0 : size * count
    }

    /// Whether the request has no TLS to the server.
    var isPlain: Bool { OutboundURL(request.url)?.scheme == "http" }

    /// libcurl calls this with the head that it sends, perhaps in parts, among other data.
    private static let onDebug: curl_debug_callback = { _, kind, bytes, count, context in
        guard kind == CURLINFO_HEADER_OUT, let bytes, let transfer = of(context), transfer.namedWholeURL == nil else {
            return 0
        }
        let line = UnsafeRawBufferPointer(start: bytes, count: count).prefix { $0 != UInt8(ascii: "\r") }
        transfer.namedWholeURL = line.split(separator: UInt8(ascii: " ")).dropFirst().first?.first != UInt8(ascii: "/")
        return 0
    }

    /// libcurl calls this for each address of the name, before it connects. A denied address gets no socket, and
    /// libcurl tries the next one.
    private static let onOpenSocket: curl_opensocket_callback = { context, _, address in
        guard let transfer = of(context), let address else { return curl_socket_t(-1) }
        guard let ip = IPAddress(socketAddress: &address.pointee.addr) else {
            transfer.denial = "not an IP address"
            return curl_socket_t(-1)
        }
        if let denial = transfer.denial(of: ip) {
            transfer.denial = denial
            return curl_socket_t(-1)
        }
        transfer.wasAllowed = true
        transfer.lastTried = spelled("\(ip)", port: address.pointee.addr.port)
        let descriptor = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
        if descriptor < 0, errno == EMFILE || errno == ENFILE { transfer.exhaustion = String(cString: strerror(errno)) }
        if descriptor >= 0, Descriptors.own.isReserved(descriptor) {
            close(descriptor)
            transfer.exhaustion = String(cString: strerror(EMFILE))
            return curl_socket_t(-1)
        }
        if descriptor >= 0 { transfer.opened.append(descriptor) }
        return descriptor
    }
}
