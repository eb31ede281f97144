/// Why a connection to the provider endpoints ended before its first request.
enum RefusedConnection: String, CaseIterable, Sendable {
    /// TLS failed. Often the client does not trust the certificate.
    case handshake
    /// TLS or the first bytes of HTTP took too long.
    case timeout
    /// There are too many connections, and none of them is idle.
    case capacity
    /// Its address has half of all connections, and none of them is idle.
    case peerShare = "peer_share"
    /// The proxy opened no tunnel.
    case proxy
}

/// A proof of identity that was rejected.
struct FailedProof: Hashable, Sendable {
    /// `apns`, `fcm` or `expo`: a label of the metric.
    let provider: String
    /// The provider's word.
    let reason: String

    static func apns(_ reason: APNsReason) -> FailedProof { FailedProof(provider: "apns", reason: reason.rawValue) }
    static func fcm(_ status: GoogleError.Status) -> FailedProof {
        FailedProof(provider: "fcm", reason: status.rawValue)
    }
    /// Failures at the token endpoint count for FCM, whose senders use it.
    static func token(_ code: GrantError.Code) -> FailedProof { FailedProof(provider: "fcm", reason: code.rawValue) }
    static let expo = FailedProof(provider: "expo", reason: ExpoError.unauthorized.code)

    /// Every failed proof that the endpoints record.
    static let all: [FailedProof] =
        APNsReason.allCases.filter(\.isFailedProof).map { .apns($0) } + [
            .fcm(.unauthenticated), .fcm(.permissionDenied),
        ]
        + GrantError.Code.allCases.map { .token($0) } + [.expo]
}

/// The values of the metrics of provider endpoints.
struct ProviderValues: Sendable {
    /// Open now, on both listeners.
    let connections: Int
    /// Since the start, as the other counts.
    let refused: [RefusedConnection: Int]
    /// Idle connections that were closed for newer ones.
    let evicted: Int
    let failedProofs: [FailedProof: Int]
    /// Answers to failed proofs that were held.
    let slowed: Int
    let limited: [SourceUsage.Limit: Int]

    /// `evicted`: since the start.
    init(_ state: ProviderState, connections: Int, evicted: Int) {
        (self.connections, self.evicted) = (connections, evicted)
        slowed = state.failures.slowed
        refused = Self.values(of: state.refusals, RefusedConnection.allCases)
        failedProofs = Self.values(of: state.failures.counts, FailedProof.all)
        limited = Self.values(of: state.usage.refusals, SourceUsage.Limit.allCases)
    }

    /// Every event of the set has an entry, so its metric begins at 0.
    private static func values<Event>(of tally: Tally<Event>, _ all: [Event]) -> [Event: Int] {
        Dictionary(uniqueKeysWithValues: all.map { ($0, tally[$0]) })
    }
}

/// Provider endpoints have metrics of their own; accepted pushes also count in those of routes and destinations.
extension Metric {
    /// Metrics of provider endpoints, in the order of the page.
    static let providers: [Metric] = [
        Metric(
            "signalbox_provider_connections", .gauge, [],
            "Open connections to the listeners `gateway.listen.apns` and `gateway.listen.proxy`."
        ) { [([], Double($0.providers.connections))] },
        optional(
            "signalbox_listener_certificate_expiry_timestamp_seconds",
            "Unix time when the certificate of `gateway.listen.tls` expires; no sample if that option is absent."
        ) { $0.certificateEnd.map { Double($0) } },
        Metric(
            "signalbox_provider_connections_refused_total", .counter, ["reason"],
            "Connections to these listeners that ended before their first request, since the start: `handshake` (TLS), "
                + "`timeout` (no HTTP within 15 s), `capacity`, `peer_share` (half of all from one address), "
                + "`proxy` (no tunnel)."
        ) { values in
            RefusedConnection.allCases.map { ([$0.rawValue], Double(values.providers.refused[$0] ?? 0)) }
        },
        Metric(
            "signalbox_provider_connections_evicted_total", .counter, [],
            "Idle connections to these listeners that closed to make room for newer ones, since the start."
        ) { [([], Double($0.providers.evicted))] },
        Metric(
            "signalbox_provider_failed_proofs_total", .counter, ["provider", "reason"],
            "Rejected credentials at provider endpoints since the start, with the reason that the provider would give."
        ) { values in
            FailedProof.all.map { ([$0.provider, $0.reason], Double(values.providers.failedProofs[$0] ?? 0)) }
        },
        Metric(
            "signalbox_provider_slowed_total", .counter, [],
            "Rejected credentials whose answer was delayed because the same address sent too many, since the start."
        ) { [([], Double($0.providers.slowed))] },
        Metric(
            "signalbox_provider_limited_total", .counter, ["limit"],
            "Requests, and for `rate` pushes, beyond a limit of their source since the start."
        ) { values in
            SourceUsage.Limit.allCases.map { ([$0.rawValue], Double(values.providers.limited[$0] ?? 0)) }
        },
    ]
}
