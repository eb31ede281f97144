import Foundation
import SignalboxConfig
import SignalboxEgress

/// Sends pushes of one source to the real push service. An immutable value of one config.
struct Upstream: Sendable {
    let settings: GatewayConfig.Upstream
    /// The devices of the mode `only`, as events name them.
    let tokens: Set<String>
    let http: OutboundHTTP

    /// `https://host[:port]` of the service of a push.
    func origin(of provider: ForwardedPush.Provider, isSandbox: Bool) -> String {
        switch provider {
        // Source: developer.apple.com, "Sending notification requests to APNs"
        case .apns: settings.apns ?? (isSandbox ? "https://api.sandbox.push.apple.com" : "https://api.push.apple.com")
        case .fcm: settings.fcm ?? "https://fcm.googleapis.com"
        }
    }

    /// Sends a push with its fields and its body unchanged. Ends within the timeout of the config. Pushes of one
    /// source with one credential share a connection, which no other source uses: APNs counts the connections and
    /// tokens of a team, and binds a connection to its first token.
    func send(_ push: ForwardedPush) async -> PushVerdict {
        let origin = origin(of: push.provider, isSandbox: push.isSandbox)
        var request = OutboundRequest(
            url: origin + push.path, headers: push.headers, body: push.body, timeout: settings.timeout,
            keptBytes: PushVerdict.largestBody + 1, keptHeaders: PushVerdict.keptHeaders, transport: settings.transport)
        request.isVerbatim = true
        request.group = ConnectionGroup(Array("\(push.source)\0\(origin)\0".utf8) + push.credential)
        return PushVerdict(await http.attempt(request), of: push.provider, host: Self.host(of: origin))
    }

    /// The URL without its scheme.
    private static func host(of origin: String) -> String {
        origin.range(of: "://").map { String(origin[$0.upperBound...]) } ?? origin
    }
}
