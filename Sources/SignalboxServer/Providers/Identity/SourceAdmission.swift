import NIOCore
import SignalboxConfig
import SignalboxNotification

/// Counts requests and pushes of sources against the limits of one config.
struct SourceAdmission: Sendable {
    /// The counts, which survive a reload.
    let usage: SourceUsage
    /// The limits of the sources that have some.
    let limits: [SourceName: GatewayConfig.SourceLimits]
    /// The clock that rates are measured by.
    var now: @Sendable () -> NIODeadline = { .now() }

    /// Counts a request and its connection. The caller keeps the permit until the request is answered.
    func admit(_ source: SourceName, _ request: ProviderRequest) -> SourceUsage.Admission {
        guard let limits = limits[source] else { return .admitted(nil) }
        return usage.admit(source, within: limits, on: request.connection, at: now())
    }

    /// Counts the pushes of a request. Returns the number of those within the limit, which are the first ones. A source
    /// without a rate has no limit.
    func admit(pushes count: Int, from source: SourceName) -> Int {
        guard let rate = limits[source]?.pushesPerSecond else { return count }
        return usage.admit(pushes: count, of: source, perSecond: rate, at: now())
    }
}

extension GatewayConfig {
    /// The limits of the sources that have some.
    var sourceLimits: [SourceName: SourceLimits] { sources.mapValues(\.limits).filter { $1 != SourceLimits() } }
}
