/// The environment of every connection to the provider endpoints.
struct ProviderServing: Sendable {
    /// The endpoints of the active config, read for each request.
    let endpoints: @Sendable () -> ProviderEndpoints
    /// Bounds the memory of all bodies, together with those of the API.
    let budget: BodyBudget
    let limits: ProviderLimits
    /// Counts the connections that are refused.
    var refusals = Tally<RefusedConnection>()
    /// Logs failed TLS handshakes; nil logs none.
    var handshakes: FailedHandshakes?
    /// All connections of the listener.
    let table: ConnectionTable
    /// The most connections, when none of them is idle and so none can be replaced.
    let mostConnections: Int

    /// The decision on the head of a request. A path that no endpoint serves gets the answer of APNs.
    func verdict(on request: ProviderRequest) -> ProviderVerdict {
        endpoints().verdict(on: request) ?? .reply(APNsReply.badPath(request))
    }
}

/// Ends a connection as soon as its requests are answered. An outbound event of its channel.
struct StopConnection: Sendable {}
