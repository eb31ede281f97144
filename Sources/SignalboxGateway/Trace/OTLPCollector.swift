package import SignalboxConfig
package import SignalboxEgress

/// The collector of one config: its address, the settings of exports, and the client to reach it.
package struct OTLPCollector: Sendable {
    /// The settings of exports.
    let settings: SecretResolver.Telemetry
    let resource: OTLPResource
    private let http: OutboundHTTP
    private let userAgent: String

    /// The most bytes of an answer that are read for a partial success.
    private static let keptBytes = 4096
    /// For one request, so that a collector that hangs holds one batch for this time only.
    static let timeout: Duration = .seconds(10)

    /// `http`: a client of its own, which ``stop()`` ends. `gateway`: the name of the config.
    package init(_ settings: SecretResolver.Telemetry, http: OutboundHTTP, gateway: String, version: String) {
        (self.settings, self.http) = (settings, http)
        resource = OTLPResource(settings, gateway: gateway, version: version)
        userAgent = "signalbox/\(version)"
    }

    /// The values of an export. Raw values are the paths below the endpoint.
    enum Signal: String, Sendable {
        case traces = "/v1/traces"
        case metrics = "/v1/metrics"
    }

    /// Posts a request once, compressed. Ends within `timeout`.
    func post(
        _ body: [UInt8], _ signal: Signal, timeout: Duration = Self.timeout
    ) async -> Result<OutboundReply, TransportError> {
        let headers = [("content-type", "application/json"), ("content-encoding", "gzip"), ("user-agent", userAgent)]
        let request = OutboundRequest(
            url: settings.endpoint + signal.rawValue, headers: headers + settings.headers.map { ($0.name, $0.value) },
            body: gzip(body), timeout: timeout, keptBytes: Self.keptBytes)
        return await http.attempt(request).answer
    }

    /// Fails the request in progress, and permits no further ones.
    func stop() { http.stop() }
}
