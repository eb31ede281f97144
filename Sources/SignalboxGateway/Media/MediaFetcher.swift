package import Foundation
package import SignalboxEgress
package import SignalboxNotification

/// Downloads one file: redirects, rules, freshness, and onto disk.
///
/// Each hop is a request of its own, so the client's address policy judges every address that is connected to.
package struct MediaFetcher: Sendable {
    package struct Settings: Sendable {
        package var rules = MediaRules()
        /// For one download with its redirects, to the last byte.
        package var timeout = Duration.seconds(20)
        package var slowest = OutboundRequest.Pace(bytesPerSecond: 1024, seconds: 10)
        package var transport = TransportOptions()
        /// Such as `signalbox/1.0`.
        package var userAgent: String

        package init(userAgent: String) { self.userAgent = userAgent }
    }

    let settings: Settings
    let now: @Sendable () -> Date
    private let http: OutboundHTTP
    private let store: MediaStore

    package init(
        _ settings: Settings, http: OutboundHTTP, store: MediaStore, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.settings = settings
        self.http = http
        self.store = store
        self.now = now
    }

    /// Downloads what is at a URL, unless it is still what these validators are of.
    package func fetch(_ url: String, validators: MediaValidators? = nil) async -> MediaOutcome {
        guard url.utf8.count <= MediaLimits.longestURL, let start = OutboundURL(url) else {
            return .failed(MediaFailure(.url, "It is no URL that can be asked for."))
        }
        var hop = Hop(url: start, start: start, validators: validators, left: settings.timeout)
        for _ in 0...MediaRules.redirects {
            if let objection = settings.rules.objection(to: hop.url) { return .failed(objection) }
            switch await step(hop) {
            case .ends(let outcome): return outcome
            case .leads(let next): hop = next
            }
        }
        return .failed(
            MediaFailure(.redirects, "\(start.host) leads to more than \(MediaRules.redirects) redirects."))
    }

    /// One request of a download.
    struct Hop {
        var url: OutboundURL
        let start: OutboundURL
        /// They are of the URL that was asked for, and say nothing of where it redirects to.
        var validators: MediaValidators?
        var left: Duration
        /// When a redirect before this one is over, if it said so.
        var notAfter: Date?
        var isRedirected = false
    }

    private enum Step {
        case ends(MediaOutcome)
        case leads(Hop)
    }

    private func step(_ hop: Hop) async -> Step {
        let host = hop.url.host
        guard hop.left > .zero else {
            return .ends(.interrupted(MediaFailure(.timeout, "\(host): redirects took all the time."), after: nil))
        }
        let body = MediaBody(rules: settings.rules, store: store, host: host)
        let result = await http.attempt(request(hop, into: body.sink))
        let reply: OutboundReply
        switch result.answer {
        case .success(let answer): reply = answer
        case .failure(let error): return .ends(body.failure ?? Self.outcome(of: error, from: host))
        }
        let caching = CachingHeaders(
            Self.headers(of: reply, with: hop.validators), receivedAt: now(), delay: result.duration / .seconds(1))
        switch reply.status {
        case 200: return .ends(await keep(body, reply, caching, hop))
        case 304 where hop.isConditional: return .ends(.unchanged(freshness(reply, caching, hop)))
        case 301, 302, 303, 307, 308:
            return redirect(reply, caching, hop, took: result.duration)
        default: return .ends(Self.outcome(of: reply, from: host, now: now()))
        }
    }

    private func request(_ hop: Hop, into sink: ReplySink) -> OutboundRequest {
        var headers = [
            ("accept", settings.rules.accept), ("accept-encoding", "identity"), ("user-agent", settings.userAgent),
        ]
        if let etag = hop.validators?.etag { headers.append(("if-none-match", etag)) }
        if let date = hop.validators?.lastModified { headers.append(("if-modified-since", date)) }
        var request = OutboundRequest(
            method: .get, url: hop.url.text, headers: headers, timeout: hop.left, keptBytes: 0,
            keptHeaders: CachingHeaders.names + ["content-type", "etag", "location"], transport: settings.transport)
        request.keptLists = CachingHeaders.lists + ["content-encoding", "transfer-encoding"]
        request.keptHeaderBytes = MediaLimits.longestURL
        request.sink = sink
        request.slowest = settings.slowest
        return request
    }

    // MARK: What a reply means

    private func redirect(_ reply: OutboundReply, _ caching: CachingHeaders, _ hop: Hop, took: Duration) -> Step {
        guard let place = reply.headers["location"], place.utf8.count < MediaLimits.longestURL,
            let url = hop.url.resolving(place)
        else {
            let words = "\(hop.url.host) answered \(reply.status) without a place that can be gone to."
            return .ends(.failed(MediaFailure(.redirects, words)))
        }
        guard hop.url.scheme != "https" || url.scheme == "https" else {
            return .ends(.failed(MediaFailure(.scheme, "\(hop.url.host) leads from https to \(url.scheme).")))
        }
        let times = [hop.notAfter, caching.promised].compactMap { $0 }
        return .leads(
            Hop(url: url, start: hop.start, left: hop.left - took, notAfter: times.min(), isRedirected: true))
    }

    private func keep(
        _ body: MediaBody, _ reply: OutboundReply, _ caching: CachingHeaders, _ hop: Hop
    ) async -> MediaOutcome {
        do {
            let (kind, writer) = try body.end(reply.headers).get()
            let store = store
            let file = try await store.keep(writer) { (media) throws(MediaError) in
                try store.describe(media, as: kind)
            }
            let remarks = MediaRemark.all(of: kind, contentType: reply.headers["content-type"], url: hop.start)
            return .stored(file, freshness(reply, caching, hop), remarks: remarks)
        } catch let refusal as MediaRefusal {
            return refusal.outcome
        } catch {
            return .interrupted(MediaFailure(.storage, "\(error)"), after: nil)
        }
    }

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

    /// What a 304 does not say is as it was (RFC 9111, 3.2).
    private static func headers(of reply: OutboundReply, with known: MediaValidators?) -> [String: String] {
        guard reply.status == 304, let date = known?.lastModified else { return reply.headers }
        return reply.headers.merging(["last-modified": date]) { said, _ in said }
    }
}

extension MediaFetcher.Hop {
    fileprivate var isConditional: Bool { validators?.etag != nil || validators?.lastModified != nil }
}

extension MediaValidators {
    /// Of a reply's headers, what can be sent back as it came: up to 1 KiB each, printable.
    fileprivate init(_ headers: [String: String]) {
        func usable(_ name: String) -> String? {
            headers[name].flatMap { value in
                let isPrintable = value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
                return isPrintable && !value.isEmpty && value.utf8.count <= 1024 ? value : nil
            }
        }
        self.init(
            etag: usable("etag"),
            lastModified: usable("last-modified").flatMap { Date(http: $0) == nil ? nil : $0 })
    }
}
