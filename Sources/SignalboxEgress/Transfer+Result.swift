internal import CCurl
import Foundation
import SignalboxNotification

/// The result of a transfer, read from libcurl's handle before it is reset.
extension Transfer {
    /// The result of a finished transfer. Call it before the handle is reset.
    func result(_ code: CURLcode, of handle: UnsafeMutableRawPointer) -> OutboundResult {
        let status = Self.number(CURLINFO_RESPONSE_CODE, of: handle)
        let wasCut = code == CURLE_WRITE_ERROR && !takesMore
        guard code == CURLE_OK || wasCut || wasAnsweredEarly(code, status) else {
            return result(.failure(error(code, of: handle)), Self.remoteAddress(of: handle))
        }
        // libcurl takes the end of an HTTP/1 connection for the end of the head (RFC 9112, 8: it is incomplete).
        guard hasWholeHead else {
            let error = TransportError.interrupted("the reply ended within its header")
            return result(.failure(error), Self.remoteAddress(of: handle))
        }
        guard wasCut || !mayBeCut(handle) else {
            let error = TransportError.interrupted("TLS ended without close_notify, so the reply may be incomplete")
            return result(.failure(error), Self.remoteAddress(of: handle))
        }
        if status == 407, isAnsweredByProxy {
            return result(.failure(.refused("the proxy answered 407")), Self.remoteAddress(of: handle))
        }
        let further = (200..<300).contains(status) ? [] : request.failureHeaders
        let reply = OutboundReply(
            status: status, excerpt: excerpt, retryAfter: header("retry-after", of: handle).flatMap { RetryAfter($0) },
            headers: keptHeaders(of: handle, and: further))
        return result(.success(reply), Self.remoteAddress(of: handle))
    }

    /// Whether the proxy of an http request may answer instead of the server (RFC 9110, 15.5.8). It cannot answer in
    /// the tunnel of an https request, and does not receive requests to hosts that the environment excludes.
    private var isAnsweredByProxy: Bool {
        switch request.transport.proxy {
        case .none: false
        case .environment: isPlain && namedWholeURL == true
        case .address: isPlain
        }
    }

    /// Whether a body for a sink ended with its connection, and the server did not announce that end.
    private func mayBeCut(_ handle: UnsafeMutableRawPointer) -> Bool {
        guard let closeNotice, !closeNotice.hasArrived else { return false }
        var announced: curl_off_t = -1
        sb_curl_get_offset(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced)
        return announced < 0 && header("transfer-encoding", of: handle) == nil
    }

    /// Whether an HTTP/2 server sent a whole response before it had read the request, and then reset the stream without
    /// an error: the client should stop sending (RFC 9113, 8.1). libcurl reports other resets with a text.
    private func wasAnsweredEarly(_ code: CURLcode, _ status: Int) -> Bool {
        code == CURLE_HTTP2_STREAM && errorDetail.isEmpty && rejection == nil && hasWholeHead && status >= 200
    }

    /// Adds the address and the duration. Without a connection the address is the last one tried.
    private func result(_ answer: Result<OutboundReply, TransportError>, _ remoteAddress: String?) -> OutboundResult {
        OutboundResult(answer, remoteAddress: remoteAddress ?? lastTried, duration: ContinuousClock.now - begun)
    }

    /// Passes an error to the caller. For transfers without a connection.
    func fail(_ error: TransportError) { finish(result(.failure(error), nil)) }

    static func number(_ info: CURLINFO, of handle: UnsafeMutableRawPointer) -> Int {
        var number = 0
        sb_curl_get_long(handle, info, &number)
        return number
    }

    /// The value of one header of the final response, without spaces around it. `number`: position among equal names.
    private func header(_ name: String, of handle: UnsafeMutableRawPointer, number: Int = 0) -> String? {
        var found: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(handle, name, number, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK, let found else {
            return nil
        }
        // For a header without a value libcurl returns the line end.
        return String(cString: found.pointee.value).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Cuts values at a byte, so an invalid end of a UTF-8 sequence becomes a replacement character. `further`: names
    /// in addition to those of every response.
    func keptHeaders(of handle: UnsafeMutableRawPointer, and further: [String] = []) -> [String: String] {
        var kept: [String: String] = [:]
        for name in request.keptHeaders + further { kept[name] = header(name, of: handle) }
        for name in request.keptLists {
            var lines: [String] = []
            while let line = header(name, of: handle, number: lines.count) { lines.append(line) }
            if !lines.isEmpty { kept[name] = lines.joined(separator: ", ") }
        }
        return kept.mapValues { String(decoding: $0.utf8.prefix(request.keptHeaderBytes), as: UTF8.self) }
    }

    private static func remoteAddress(of handle: UnsafeMutableRawPointer) -> String? {
        var text: UnsafePointer<CChar>?
        guard sb_curl_get_string(handle, CURLINFO_PRIMARY_IP, &text) == CURLE_OK, let text, text.pointee != 0 else {
            return nil
        }
        return spelled(String(cString: text), port: number(CURLINFO_PRIMARY_PORT, of: handle))
    }

    /// Address and port; IPv6 in brackets (RFC 3986, 3.2.2).
    static func spelled(_ address: String, port: Int) -> String {
        address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    /// Bounds the memory of a response's head.
    var hasTooManyHeaders: Bool { headerBytes > Self.maximumHeaderBytes || headerLines > Self.maximumHeaderLines }

    /// Why a transfer that libcurl ended with a code has no response. The reasons that the callbacks recorded win
    /// over libcurl's code, which only says that a callback failed.
    private func error(_ code: CURLcode, of handle: UnsafeMutableRawPointer) -> TransportError {
        if start == nil, let error = connectionError(of: handle) { return error }
        var words = errorDetail
        if case .repetition(let reason)? = rejection { words = reason }
        if hasTooManyHeaders || exceedsBounds(code, words) { return .interrupted("the reply has too many headers") }
        if case .repetition? = rejection { return .interrupted(words) }
        if words.isEmpty { words = String(cString: curl_easy_strerror(code)) }
        return TransportError(code, words, wasBegun: start != nil)
    }

    /// Whether the headers exceed a bound of libcurl. A line of more than 100 KiB in HTTP/1 counts as a lack of
    /// memory, and more than 128 KiB in HTTP/2 as a callback that failed (`NGHTTP2_ERR_CALLBACK_FAILURE`).
    private func exceedsBounds(_ code: CURLcode, _ words: String) -> Bool {
        guard start != nil, awaitsBody else { return false }
        return code == CURLE_OUT_OF_MEMORY || words.contains("nghttp2_session_mem_recv() returned -902")
    }

    /// Why there is no connection, if this process or a proxy is the reason.
    private func connectionError(of handle: UnsafeMutableRawPointer) -> TransportError? {
        if let denial, !wasAllowed { return .denied(denial) }
        if let exhaustion { return .exhausted(exhaustion) }
        let proxyStatus = Self.number(CURLINFO_HTTP_CONNECTCODE, of: handle)
        guard proxyStatus == 0 || (200..<300).contains(proxyStatus) else {
            return .refused("the proxy answered \(proxyStatus)")
        }
        return nil
    }

    /// libcurl's words for the error of the transfer; empty without them.
    var errorDetail: String {
        String(decoding: errorText.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
