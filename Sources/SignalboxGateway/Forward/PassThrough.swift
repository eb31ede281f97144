package import Foundation
package import SignalboxConfig
package import SignalboxEgress
package import SignalboxNotification
package import SignalboxRouting
package import SignalboxStore

/// Forwards pushes whose events are stored to the real push service, and makes an event of each answer. An immutable
/// value of one config; the ledger outlives it.
package struct PassThrough: Sendable {
    private let upstreams: [SourceName: Upstream]
    private let gateway: String
    private let routes: RouteTable
    private let variants: EventVariants
    private let queue: any IntakeStore
    private let tokens: TokenHash
    private let ledger: ForwardLedger
    private let ids = EventIDSource()
    private let now: @Sendable () -> Date

    /// The result of a forwarded push.
    package enum Answer: Sendable, Equatable {
        /// The service's answer, or that it is unreachable. Its event is durable.
        case verdict(PushVerdict)
        /// The source has too many pushes in progress. The push was not sent.
        case busy
        /// The answer could not be recorded. The service may have the push.
        case store(StoreError)
    }

    /// `tokens`: the devices of the mode `only`, by source. `http`: sends the requests. `ledger`: shared by all
    /// configs. `now`: the clock of events.
    package init(
        _ config: GatewayConfig, tokens listed: [SourceName: Set<String>], http: OutboundHTTP, routes: RouteTable,
        variants: EventVariants, queue: any IntakeStore, tokens: TokenHash, ledger: ForwardLedger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        var upstreams: [SourceName: Upstream] = [:]
        for (name, source) in config.sources {
            guard let settings = source.upstream, settings.mode != .capture else { continue }
            upstreams[name] = Upstream(settings: settings, tokens: listed[name] ?? [], http: http)
        }
        self.upstreams = upstreams
        gateway = config.gateway.name
        self.routes = routes
        self.variants = variants
        self.queue = queue
        self.tokens = tokens
        self.ledger = ledger
        self.now = now
    }

    // MARK: Decisions

    /// True if no source forwards pushes.
    package var isEmpty: Bool { upstreams.isEmpty }

    /// How pushes of a source are answered.
    package func mode(of source: SourceName) -> GatewayConfig.Upstream.Mode {
        upstreams[source]?.settings.mode ?? .capture
    }

    /// Whether a push is forwarded. `token`: the device in its canonical spelling; nil for a push without one, which
    /// the mode `only` does not forward.
    package func forwards(token: [UInt8]?, of source: SourceName) -> Bool {
        guard let upstream = upstreams[source] else { return false }
        guard upstream.settings.mode == .only else { return true }
        return token.map { upstream.tokens.contains(tokens.name(of: $0)) } ?? false
    }

    /// The hash of a device token, as events show it.
    package func name(of token: [UInt8]) -> String { tokens.name(of: token) }

    /// Logs a push that cannot be forwarded; see ``ForwardLedger/recordRefusal(_:of:)``.
    package func recordRefusal(_ reason: String, of source: SourceName) { ledger.recordRefusal(reason, of: source) }

    // MARK: Forwarding

    /// Forwards a push, and stores the event of the answer before it returns. A repeat gets the recorded answer of the
    /// first push; if that is in progress, the repeat waits. After a temporary failure, a repeat is forwarded again. If
    /// the gateway crashes between an answer and its record, the service receives a repeat a second time.
    package func forward(_ push: ForwardedPush) async -> Answer {
        guard let upstream = upstreams[push.source] else {
            preconditionFailure("Only a source with an upstream forwards pushes.")
        }
        let key = push.verdictKey(at: upstream.origin(of: push.provider, isSandbox: push.isSandbox))
        let answer = await ledger.run(key, of: push.source, upTo: upstream.settings.concurrency) {
            do throws(StoreError) {
                if let key,
                    case .repeated(let known)? = try await queue.result(ofKey: key, digest: [], from: push.source),
                    let verdict = PushVerdict(known)
                {
                    return .verdict(verdict)
                }
                let verdict = await upstream.send(push)
                ledger.record(verdict, to: push)
                try await store(verdict, to: push, key: key)
                return .verdict(verdict)
            } catch { return .store(error) }
        }
        return answer ?? .busy
    }

    /// Sends a request without an event or a record, to learn whether the service accepts its credential.
    package func probe(_ push: ForwardedPush) async -> PushVerdict? {
        guard let upstream = upstreams[push.source] else { return nil }
        return await upstream.send(push)
    }

    /// The service's answer to a push that it only checks, which makes no event and no record. Nil when the source has
    /// too many pushes in progress.
    package func check(_ push: ForwardedPush) async -> PushVerdict? {
        guard let upstream = upstreams[push.source] else { return nil }
        let answer = await ledger.run(nil, of: push.source, upTo: upstream.settings.concurrency) {
            .verdict(await upstream.send(push))
        }
        if case .verdict(let verdict)? = answer { return verdict }
        return nil
    }

    /// Stores the event of an answer, with the record for repeats, in one transaction.
    private func store(_ verdict: PushVerdict, to push: ForwardedPush, key: String?) async throws(StoreError) {
        let now = now()
        let event = AnsweredEvent.event(verdict, to: push, id: ids.next(at: now), gateway: gateway, at: now)
        let routed = routes.route(own: event, variants: variants).routed
        var request: IdempotentRequest?
        if let key, let stored = verdict.stored {
            // The key contains a digest of everything that the answer depends on.
            request = IdempotentRequest(from: push.source, key: key, digest: []) { _ in stored }
        }
        guard case .appended(let duplicates) = try await queue.append([routed], of: request) else { return }
        variants.count([routed], without: duplicates)
    }
}
