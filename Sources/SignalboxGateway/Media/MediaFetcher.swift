package import Foundation
package import SignalboxEgress
package import SignalboxNotification

/// Downloads files to disk: follows redirects, applies the rules, and reads how long a file stays fresh.
///
/// Each redirect is a request of its own, so the client's address policy applies to every address. A value without
/// mutable state: all downloads of a plan share it.
package struct MediaFetcher: Sendable {
    /// Settings of all downloads; the config sets them.
    package struct Settings: Sendable {
        /// The accepted URLs and files.
        package var rules = MediaRules()
        /// For one download with its redirects, up to the last byte.
        package var timeout = Duration.seconds(20)
        /// A slower body fails before the timeout.
        package var slowest = (bytesPerSecond: 1024, seconds: 10)
        /// Proxy and TLS options.
        package var transport = TransportOptions()
        /// For example `signalbox/1.0`.
        package var userAgent: String
    }

    private let settings: Settings
    /// The wall clock, for lifetimes.
    private let now: @Sendable () -> Date
    private let http: OutboundHTTP
    /// Receives the bytes while they arrive.
    private let store: MediaStore

    /// `now`: the clock for lifetimes. `http`: a client whose address policy permits media servers only as the config
    /// allows.
    package init(
        _ settings: Settings, http: OutboundHTTP, store: MediaStore, now: @escaping @Sendable () -> Date = { Date() }
    ) { (self.settings, self.http, self.store, self.now) = (settings, http, store, now) }

    /// Downloads the file at a URL. Returns `unchanged` if the server confirms that the validators still match,
    /// `interrupted` for failures that may pass (network, 408, 425, 429, 5xx, disk), and `failed` for all others.
    /// Never throws. A file is on disk when it returns `stored`. The timeout covers all redirects; at most
    /// ``MediaRules/redirects`` of them are followed. Each URL is checked by the rules before its request.
    package func fetch(_ url: String, validators: MediaValidators? = nil) async -> MediaOutcome {
        guard url.utf8.count <= MediaLimits.longestURL, let start = OutboundURL(url) else {
            return .failed(MediaFailure(.url, "The URL is malformed or too long."))
        }
        var hop = Hop(url: start, start: start, validators: validators, left: settings.timeout)
        for _ in 0...MediaRules.redirects {
            if let objection = settings.rules.objection(to: hop.url) { return .failed(objection) }
            switch await step(hop) {
            case .end(let outcome): return outcome
            case .redirect(let next): hop = next
            }
        }
        return .failed(MediaFailure(.redirects, "\(start.host) leads to more than \(MediaRules.redirects) redirects."))
    }

    /// One request of a download. `left`: time that the whole download has left.
    private struct Hop {
        /// The URL of this request.
        var url: OutboundURL
        /// The URL of the event, for texts of failures.
        let start: OutboundURL
        /// They belong to the first URL; redirects have none.
        var validators: MediaValidators?
        var left: Duration
        /// The earliest end of the lifetimes of the redirects before this one.
        var notAfter: Date?
        /// True from the second request on.
        var isRedirected = false

        /// Only then can the server answer 304.
        var isConditional: Bool { validators?.etag != nil || validators?.lastModified != nil }
    }

    /// The outcome of one request: the end of the download, or the next request.
    private enum Step {
        case end(MediaOutcome)
        case redirect(Hop)
    }

    /// A failure that the body has recorded, such as a file that is too large, takes precedence over the transport's
    /// error.
    private func step(_ hop: Hop) async -> Step {
        let host = hop.url.host
        guard hop.left > .zero else {
            return .end(.interrupted(MediaFailure(.timeout, "\(host): timed out in redirects."), after: nil))
        }
        let body = MediaBody(rules: settings.rules, store: store, host: host)
        let result = await http.attempt(request(hop, into: body.sink))
        let reply: OutboundReply
        switch result.answer {
        case .success(let answer): reply = answer
        case .failure(let error):
            await MediaStore.onDisk { body.discard() }
            return .end(body.failure ?? Self.outcome(of: error, from: host))
        }
        let caching = CachingHeaders(reply.headers, receivedAt: now(), delay: result.duration / .seconds(1))
        switch reply.status {
        case 200: return .end(await keep(body, reply, caching, hop))
        case 304 where hop.isConditional: return .end(.unchanged(freshness(reply, caching, hop)))
        case 301, 302, 303, 307, 308: return redirect(reply, caching, hop, took: result.duration)
        default: return .end(Self.outcome(of: reply, from: host, now: now()))
        }
    }

    /// Asks for an unencoded body, because the stored bytes must be those of the file.
    private func request(_ hop: Hop, into sink: ReplySink) -> OutboundRequest {
        var headers = [
            ("accept", settings.rules.accept), ("accept-encoding", "identity"), ("user-agent", settings.userAgent),
        ]
        if let etag = hop.validators?.etag { headers.append(("if-none-match", etag)) }
        if let date = hop.validators?.lastModified { headers.append(("if-modified-since", date)) }
        var request = OutboundRequest(
            method: .get, url: hop.url.text, headers: headers, timeout: hop.left, keptBytes: 0,
            keptHeaders: CachingHeaders.names + ["content-type", "etag", "last-modified", "location"],
            transport: settings.transport)
        request.keptLists = CachingHeaders.lists + ["content-encoding", "content-length", "transfer-encoding"]
        request.keptHeaderBytes = MediaLimits.longestURL
        request.sink = sink
        request.slowest = settings.slowest
        return request
    }

    // MARK: Responses

    /// A redirect from `https` to `http` fails, even if `http` is allowed. The next request has no validators.
    private func redirect(_ reply: OutboundReply, _ caching: CachingHeaders, _ hop: Hop, took: Duration) -> Step {
        guard let place = reply.headers["location"], place.utf8.count < MediaLimits.longestURL,
            let url = hop.url.resolving(place)
        else {
            let words = "\(hop.url.host) answered \(reply.status) without a valid location."
            return .end(.failed(MediaFailure(.redirects, words)))
        }
        guard hop.url.scheme != "https" || url.scheme == "https" else {
            return .end(.failed(MediaFailure(.scheme, "\(hop.url.host) redirects from https to \(url.scheme).")))
        }
        let times = [hop.notAfter, caching.promised].compactMap { $0 }
        return .redirect(
            Hop(url: url, start: hop.start, left: hop.left - took, notAfter: times.min(), isRedirected: true))
    }

    /// Returns `interrupted` if the disk fails, so that the download is retried.
    private func keep(
        _ body: MediaBody, _ reply: OutboundReply, _ caching: CachingHeaders, _ hop: Hop
    ) async -> MediaOutcome {
        switch await MediaStore.onDisk({ body.end(reply.headers) }) {
        case .failure(let outcome): return outcome
        case .file(let kind, let writer):
            do throws(MediaError) {
                let file = try await store.keep(writer, as: kind)
                let remarks = MediaRemark.all(of: kind, contentType: reply.headers["content-type"], url: hop.start)
                return .stored(file, freshness(reply, caching, hop), remarks: remarks)
            } catch {
                return .interrupted(MediaFailure(.storage, error.description), after: nil)
            }
        }
    }

    /// A redirect on the way limits the lifetime, and the validators are dropped, because they belong to another URL.
    private func freshness(_ reply: OutboundReply, _ caching: CachingHeaders, _ hop: Hop) -> MediaFreshness {
        let until = min(caching.until, hop.notAfter ?? .distantFuture)
        guard !hop.isRedirected, !caching.isForOnce else { return MediaFreshness(until: until) }
        var validators = MediaValidators(reply.headers)
        if reply.status == 304 {
            validators.etag = validators.etag ?? hop.validators?.etag
            validators.lastModified = validators.lastModified ?? hop.validators?.lastModified
        }
        return MediaFreshness(validators: validators, until: until)
    }
}

// MARK: Failures

extension MediaFetcher {
    /// Maps the transport's error to the stable codes of events.
    private static func outcome(of error: TransportError, from host: String) -> MediaOutcome {
        let code: MediaFailure.Code =
            switch error {
            case .denied: .denied
            case .unresolved: .dns
            case .refused, .exhausted: .refused
            case .tls, .certificate: .tls
            case .timeoutConnecting, .timeoutReplying: .timeout
            case .interrupted, .token: .reset
            case .unusable: .url
            case .stopped: .stopped
            }
        let failure = MediaFailure(code, "\(host): \(error.description)")
        // A bad certificate needs its server's operator, so a soon retry does not help.
        if case .certificate = error { return .failed(failure) }
        return error.isTemporary ? .interrupted(failure, after: nil) : .failed(failure)
    }

    /// The outcome of a status that is not 200, a redirect, or the answer to a conditional request. `now`: for a
    /// `Retry-After` that is a date. A wait is at most ``RetryPolicy/longestRetryAfter``.
    private static func outcome(of reply: OutboundReply, from host: String, now: Date) -> MediaOutcome {
        let words = "\(host) answered \(reply.status)."
        switch reply.status {
        case 404, 410: return .failed(MediaFailure(.notFound, words))
        case 408, 425, 429, 500..<600:
            let wait = reply.retryAfter.map { min($0.delay(from: now), RetryPolicy.longestRetryAfter) }
            return .interrupted(MediaFailure(.status, words), after: wait.map { .seconds($0) })
        default: return .failed(MediaFailure(.status, words))
        }
    }
}

extension MediaValidators {
    /// Keeps validators that can be sent back unchanged: printable, up to 1 KiB each. A `Last-Modified` must be an
    /// HTTP date.
    fileprivate init(_ headers: [String: String]) {
        func usable(_ name: String) -> String? {
            headers[name].flatMap { value in
                let isPrintable = value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
                return isPrintable && !value.isEmpty && value.utf8.count <= 1024 ? value : nil
            }
        }
        self.init(
            etag: usable("etag"), lastModified: usable("last-modified").flatMap { Date(http: $0) == nil ? nil : $0 })
    }
}
