import Foundation
package import SignalboxNotification

/// Where payloads are handed to a running gateway.
package struct GatewayAddress: Sendable, Equatable {
    /// Of the endpoint.
    package let url: String

    /// Reads the address of a gateway, with whatever a proxy puts before its paths; nil for what is none. `source`: the one
    /// to speak for; nil leaves that to the token.
    package init?(_ text: String, source: SourceName?) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", parts.host?.isEmpty == false, parts.user == nil,
            parts.password == nil, parts.query == nil, parts.fragment == nil
        else { return nil }
        var root = text[...]
        while root.hasSuffix("/") { root = root.dropLast() }
        url = root + (source.map { "/v1/sources/\($0.name)/notifications" } ?? "/v1/notifications")
    }
}
