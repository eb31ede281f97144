import SignalboxJSON

extension GatewayConfig {
    /// The export of traces and metrics by OTLP over HTTP. Absent values come from the environment variables of
    /// OpenTelemetry; see ``SecretResolver/telemetry(_:)``.
    package struct Telemetry: Sendable, Equatable {
        /// The base URL of the collector; nil for `OTEL_EXPORTER_OTLP_ENDPOINT`.
        package var endpoint: String?
        /// Further headers of every export; empty for `OTEL_EXPORTER_OTLP_HEADERS`.
        package var headers: [Destination.Header] = []
        /// The part of requests without a trace that begin one; nil for `OTEL_TRACES_SAMPLER_ARG`.
        package var ratio: Double?
        /// The time between two exports. A full batch of spans does not wait for it.
        package var interval: Duration = .seconds(10)
        /// False exports traces only.
        package var metrics = true
        /// Nil for `OTEL_SERVICE_NAME`.
        package var serviceName: String?

        /// The defaults: everything comes from the environment.
        package init() {}

        /// Requests of the export obey the egress policy like those to destinations. Rejects an endpoint with a query,
        /// because paths are appended to it.
        static let options = Section(Telemetry()) {
            Option(
                "endpoint", \.endpoint, .url,
                "The base URL of an OpenTelemetry collector (OTLP over HTTP, JSON), such as `http://127.0.0.1:4318`. `egress.allow` must permit its address. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`; without both, traces and metrics are not exported."
            )
            Option(
                "headers", \.headers, Destination.Header.type,
                "Further headers of every export. Default: `OTEL_EXPORTER_OTLP_HEADERS`.")
            Option(
                "ratio", \.ratio, .share,
                "Share of requests without `traceparent` that begin a recorded trace; those with it follow their sender. Default: `OTEL_TRACES_SAMPLER_ARG`, otherwise 0."
            )
            Option(
                "interval", \.interval, .duration(from: "1s", to: "1h", example: "10s"),
                "The time between two exports. A full batch of spans is exported sooner.")
            Option("metrics", \.metrics, .flag, "With `false`, only traces are exported.")
            Option(
                "serviceName", \.serviceName, .line,
                "The resource attribute `service.name`. Default: `OTEL_SERVICE_NAME`, otherwise `signalbox`.")
        } check: { telemetry, value, reader in
            guard let member = value["endpoint"], telemetry.endpoint?.contains("?") == true else { return }
            reader.note(url: member, "paths such as /v1/traces are appended to this URL; remove its query")
        }
    }
}
