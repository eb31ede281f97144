internal import CCurl
import Foundation
import SignalboxNotification

/// One request on its way: everything that libcurl points to while it lasts.
///
/// A class because C callbacks get its address.
final class Transfer: @unchecked Sendable {
    // Sendable: made by the caller, then touched by the client's thread only, until it resumes the continuation.
    private let request: OutboundRequest
    private let policy: AddressPolicy
    private let completion: CheckedContinuation<OutboundResult, Never>
    private let begun = ContinuousClock.now
    /// libcurl's, while it is ours.
    private var handle: UnsafeMutableRawPointer?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var body = Body.awaited
    private var excerpt: [UInt8] = []
    private var received = 0
    private var headerBytes = 0
    private var headerLines = 0
    /// The last address that a socket was opened for.
    private var lastTried: String?
    var denial: String?
    /// Whether any of the name's addresses might be connected to: then it was not the policy that failed the request.
    var wasAllowed = false
    /// Why the system gave us no socket.
    var exhaustion: String?
    /// Descriptors that were opened for it.
    var opened: [Int32] = []
    let sockets: OpenSockets
    /// Whether the connection that it was about to use held bytes that nobody had asked for.
    private(set) var metLeftovers = false
    var errorText = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))

    /// Where the reply's body goes.
    private enum Body {
        case awaited, excerpt
        case sink(ReplySink)
        /// The sink has had enough.
        case refused
    }

    /// Of all the header lines of a reply; libcurl itself ends a line of 100 KiB.
    private static let maximumHeaderBytes = 64 * 1024
    private static let maximumHeaderLines = 256
    /// A reply longer than this is cut, unless a sink takes it: its status is known by then, and nobody reads the rest.
    private static let maximumBytes = 256 * 1024

    init(
        _ request: OutboundRequest, policy: AddressPolicy, sockets: OpenSockets,
        completion: CheckedContinuation<OutboundResult, Never>
    ) {
        self.request = request
        self.policy = policy
        self.sockets = sockets
        self.completion = completion
    }

    deinit { curl_slist_free_all(headers) }

    /// Sets a fresh or reset handle up for this request; says why when that cannot be done.
    func prepare(_ handle: UnsafeMutableRawPointer) throws(TransportError) {
        // Behind a proxy no socket of ours leads to the server: what its URL says is all that can be judged.
        if request.transport.proxy != .none, case .address(let address) = LiteralHost(ofURL: request.url) {
            if case .denied(let reason) = policy.verdict(for: address) {
                throw .denied(Self.words(for: address, reason))
            }
        }
        self.handle = handle
        // From an earlier connection, perhaps.
        curl_slist_free_all(headers)
        (headers, opened) = (nil, [])
        let context = Unmanaged.passUnretained(self).toOpaque()
        var codes = [
            sb_curl_set_string(handle, CURLOPT_URL, request.url),
            sb_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
            sb_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            sb_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            // Else libcurl waits on this thread for the thread that looks a name up, however long that takes, and with it
            // every other transfer.
            sb_curl_set_long(handle, CURLOPT_QUICK_EXIT, 1),
            // libcurl 7.88 forgets about streams that share a connection where replies are long, until a timeout; what goes
            // into a sink is long.
            sb_curl_set_long(
                handle, CURLOPT_HTTP_VERSION, request.sink == nil ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1),
            sb_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(request.timeout.wholeMilliseconds)),
            sb_curl_set_long(
                handle, CURLOPT_CONNECTTIMEOUT_MS, Int(min(request.timeout, .seconds(10)).wholeMilliseconds)),
            sb_curl_set_pointer(handle, CURLOPT_PRIVATE, context),
            sb_curl_set_write_callback(handle, Self.onWrite, context),
            sb_curl_set_header_callback(handle, Self.onHeader, context),
            sb_curl_set_socket_callback(handle, Self.onOpenSocket, context),
            errorText.withUnsafeMutableBufferPointer {
                sb_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, $0.baseAddress)
            },
        ]
        if let slowest = request.slowest {
            codes.append(sb_curl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, slowest.bytesPerSecond))
            codes.append(sb_curl_set_long(handle, CURLOPT_LOW_SPEED_TIME, slowest.seconds))
        }
        if request.sink != nil { codes.append(sb_curl_set_ready_callback(handle, Self.onReady, context)) }
        if metLeftovers { codes.append(sb_curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)) }
        codes += request.transport.apply(to: handle) + setHeaders(handle) + setBody(handle)
        guard codes.allSatisfy({ $0 == CURLE_OK }) else { throw .unusable("libcurl refused it") }
    }

    private static func words(for address: IPAddress, _ reason: String) -> String {
        "\(address) is \(reason); egress.allow in the config can name it"
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
        guard request.method == .post else {
            let codes = [sb_curl_set_long(handle, CURLOPT_HTTPGET, 1)]
            guard request.method == .options else { return codes }
            return codes + [sb_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, "OPTIONS")]
        }
        // libcurl reads the body where it lies; `request` keeps it there for as long as this object lives.
        let body = request.body.withUnsafeBytes { UnsafeMutableRawPointer(mutating: $0.baseAddress) }
        return [
            sb_curl_set_long(handle, CURLOPT_POST, 1),
            sb_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)),
            sb_curl_set_pointer(handle, CURLOPT_POSTFIELDS, body),
        ]
    }

    /// Whether it has to be begun once more, by a connection of its own: it did not get as far as to be sent.
    func isToBeRepeated(_ code: CURLcode) -> Bool { code == CURLE_ABORTED_BY_CALLBACK && metLeftovers }

    // MARK: The end

    /// What libcurl says of the finished transfer; to be asked before the handle is reset.
    func result(_ code: CURLcode, of handle: UnsafeMutableRawPointer) -> OutboundResult {
        let status = Self.status(of: handle)
        let wasCut = code == CURLE_WRITE_ERROR && !takesMore
        let answer: Result<OutboundReply, TransportError> =
            code == CURLE_OK || wasCut
            ? .success(
                OutboundReply(
                    status: status, excerpt: excerpt,
                    retryAfter: header("retry-after", of: handle).flatMap { RetryAfter($0) },
                    headers: keptHeaders(of: handle)))
            : .failure(error(code, of: handle))
        return result(answer, remoteAddress: Self.remoteAddress(of: handle) ?? lastTried)
    }

    private func result(
        _ answer: Result<OutboundReply, TransportError>, remoteAddress: String?
    ) -> OutboundResult {
        OutboundResult(answer, remoteAddress: remoteAddress, duration: ContinuousClock.now - begun)
    }

    /// Answers the caller.
    func finish(_ result: OutboundResult) { completion.resume(returning: result) }

    func fail(_ error: TransportError) { finish(result(.failure(error), remoteAddress: lastTried)) }

    private static func status(of handle: UnsafeMutableRawPointer) -> Int {
        var status = 0
        sb_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return status
    }

    private func header(_ name: String, of handle: UnsafeMutableRawPointer, number: Int = 0) -> String? {
        var found: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(handle, name, number, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK, let found else {
            return nil
        }
        // Of a header without a value libcurl gives the line's end.
        return String(cString: found.pointee.value).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func keptHeaders(of handle: UnsafeMutableRawPointer) -> [String: String] {
        var kept: [String: String] = [:]
        for name in request.keptHeaders { kept[name] = header(name, of: handle).map(shortened) }
        for name in request.keptLists {
            var lines: [String] = []
            while let line = header(name, of: handle, number: lines.count) { lines.append(line) }
            if !lines.isEmpty { kept[name] = shortened(lines.joined(separator: ", ")) }
        }
        return kept
    }

    private func shortened(_ text: String) -> String {
        String(decoding: text.utf8.prefix(request.keptHeaderBytes), as: UTF8.self)
    }

    private static func remoteAddress(of handle: UnsafeMutableRawPointer) -> String? {
        var text: UnsafePointer<CChar>?
        var port = 0
        guard sb_curl_get_string(handle, CURLINFO_PRIMARY_IP, &text) == CURLE_OK, let text, text.pointee != 0,
            sb_curl_get_long(handle, CURLINFO_PRIMARY_PORT, &port) == CURLE_OK
        else { return nil }
        return spelled(String(cString: text), port: port)
    }

    private static func spelled(_ address: String, port: Int) -> String {
        address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    var headersAreTooMany: Bool {
        headerBytes > Self.maximumHeaderBytes || headerLines > Self.maximumHeaderLines
    }

    // MARK: Callbacks

    private static let onWrite: curl_write_callback = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
        return transfer.takesMore ? size * count : 0
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        if case .awaited = body { body = beginBody() }
        switch body {
        case .awaited, .refused: break
        case .sink(let sink): if !sink.take(bytes) { body = .refused }
        case .excerpt:
            received += bytes.count
            excerpt.append(contentsOf: bytes.prefix(max(0, request.keptBytes - excerpt.count)))
        }
    }

    private func beginBody() -> Body {
        guard let sink = request.sink, let handle, Self.status(of: handle) == 200 else { return .excerpt }
        var announced: curl_off_t = -1
        sb_curl_get_offset(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced)
        let head = ReplySink.Head(
            headers: keptHeaders(of: handle), announcedBytes: announced < 0 ? nil : Int(announced))
        return sink.begin(head) ? .sink(sink) : .refused
    }

    private var takesMore: Bool {
        if case .refused = body { return false }
        return received <= Self.maximumBytes
    }

    private static let onHeader: curl_write_callback = { _, size, count, context in
        guard let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        transfer.headerBytes += size * count
        transfer.headerLines += 1
        return transfer.headersAreTooMany ? 0 : size * count
    }

    private static let onOpenSocket: curl_opensocket_callback = { context, _, address in
        guard let context, let address else { return curl_socket_t(-1) }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        guard let ip = IPAddress(socketAddress: &address.pointee.addr) else {
            transfer.denial = "not an IP address"
            return curl_socket_t(-1)
        }
        if case .denied(let reason) = transfer.policy.verdict(for: ip) {
            transfer.denial = words(for: ip, reason)
            return curl_socket_t(-1)
        }
        transfer.wasAllowed = true
        transfer.lastTried = spelled("\(ip)", port: address.pointee.addr.port)
        let descriptor = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
        if descriptor < 0, errno == EMFILE || errno == ENFILE { transfer.exhaustion = String(cString: strerror(errno)) }
        if descriptor >= 0 { transfer.opened.append(descriptor) }
        return descriptor
    }

    /// What comes behind a whole reply is no reply to the next request (RFC 9112, 6.3), and libcurl does not see all of it.
    private static let onReady: curl_prereq_callback = { context, _, _, _, port in
        guard let context else { return CURL_PREREQFUNC_OK }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        guard let handle = transfer.handle else { return CURL_PREREQFUNC_OK }
        var connections = 0
        sb_curl_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
        guard connections == 0 else {
            transfer.sockets.note(transfer.opened, port: port)
            return CURL_PREREQFUNC_OK
        }
        guard !transfer.metLeftovers, transfer.sockets.hasLeftovers(port: port, ssl: sb_curl_get_ssl(handle)) else {
            return CURL_PREREQFUNC_OK
        }
        transfer.metLeftovers = true
        return CURL_PREREQFUNC_ABORT
    }
}

extension Duration {
    /// For libcurl, to which 0 would mean for ever.
    fileprivate var wholeMilliseconds: Int64 {
        max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
