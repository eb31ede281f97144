import Foundation

extension SecretResolver {
    /// The export of telemetry with its secrets: the options of the config; for options that are absent, the
    /// environment variables of OpenTelemetry.
    package struct Telemetry: Sendable, Equatable {
        /// The base URL, without a slash at its end.
        package let endpoint: String
        /// Names in lower case.
        package let headers: [Pair]
        /// The part of requests without a trace that begin one, 0 to 1.
        package let ratio: Double
        /// The time between two exports.
        package let interval: Duration
        /// False exports traces only.
        package let metrics: Bool
        /// The resource attribute `service.name`.
        package let serviceName: String
        /// Further attributes of the resource.
        package let attributes: [Pair]

        /// A name and its value.
        package struct Pair: Sendable, Equatable {
            package let name: String
            package let value: String
        }
    }

    /// Most entries of a list in the environment.
    private static let mostPairs = 64

    /// Nil if neither the config nor the environment names a collector; the other variables are not read then. Throws
    /// for a secret that cannot be read, and for a variable with an invalid value.
    /// Source: opentelemetry.io, "Environment Variable Specification" and "OTLP Exporter Configuration"
    package func telemetry(_ options: GatewayConfig.Telemetry) throws(ConfigRefusal) -> Telemetry? {
        guard let endpoint = try endpoint(options) else { return nil }
        let attributes = try pairs("OTEL_RESOURCE_ATTRIBUTES")
        let name = options.serviceName ?? variable("OTEL_SERVICE_NAME")
        return Telemetry(
            endpoint: endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint,
            headers: options.headers.isEmpty ? try environmentHeaders() : try headers(options.headers),
            ratio: try ratio(options), interval: options.interval, metrics: options.metrics,
            serviceName: name ?? attributes.last { $0.name == "service.name" }?.value ?? "signalbox",
            attributes: attributes.filter { $0.name != "service.name" })
    }

    /// In the order of the config. Throws for a secret that cannot be read, or cannot be sent as a header.
    private func headers(_ headers: [Destination.Header]) throws(ConfigRefusal) -> [Telemetry.Pair] {
        try headers.map { header throws(ConfigRefusal) in
            Telemetry.Pair(name: header.name, value: try value(of: header, "/telemetry/headers/\(header.name)"))
        }
    }

    /// The config's, otherwise that of the environment; nil if neither is set. Throws for a variable that is not a
    /// URL.
    private func endpoint(_ options: GatewayConfig.Telemetry) throws(ConfigRefusal) -> String? {
        if let endpoint = options.endpoint { return endpoint }
        let name = "OTEL_EXPORTER_OTLP_ENDPOINT"
        guard let text = variable(name) else { return nil }
        guard OptionType<String>.isURL(text), !text.contains("?") else {
            throw ConfigRefusal(
                "\(name) is not an http or https URL with a host and without a query, such as http://127.0.0.1:4318.")
        }
        return text
    }

    /// 0 if neither is set: only requests with a sampled `traceparent` are recorded then.
    private func ratio(_ options: GatewayConfig.Telemetry) throws(ConfigRefusal) -> Double {
        if let ratio = options.ratio { return ratio }
        let name = "OTEL_TRACES_SAMPLER_ARG"
        guard let text = variable(name) else { return 0 }
        guard let ratio = Double(text), (0...1).contains(ratio) else {
            throw ConfigRefusal("\(name) is not a number from 0 to 1: set it to the share of traces to record.")
        }
        return ratio
    }

    /// Throws for a header that the gateway sets itself. The error never shows a value.
    private func environmentHeaders() throws(ConfigRefusal) -> [Telemetry.Pair] {
        let name = "OTEL_EXPORTER_OTLP_HEADERS"
        let pairs = try pairs(name).map { Telemetry.Pair(name: $0.name.lowercased(), value: $0.value) }
        // Without the value: it may be a secret.
        guard pairs.allSatisfy({ Destination.Header.allows(name: $0.name) && Destination.Header.allows($0.value) })
        else {
            throw ConfigRefusal("\(name) has a header that cannot be sent: write comma-separated NAME=VALUE pairs.")
        }
        return pairs
    }

    /// Pairs as in W3C Baggage: `NAME=VALUE`, separated by commas, values percent-encoded. Throws for more than
    /// ``mostPairs`` of them, for one without a name, and for an invalid escape.
    private func pairs(_ name: String) throws(ConfigRefusal) -> [Telemetry.Pair] {
        var pairs: [Telemetry.Pair] = []
        for part in (variable(name) ?? "").split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard sides.count == 2, !sides[0].isEmpty, let value = sides[1].removingPercentEncoding,
                pairs.count < Self.mostPairs
            else {
                throw ConfigRefusal(
                    "\(name) is not a list of at most \(Self.mostPairs) NAME=VALUE pairs: separate them with commas.")
            }
            pairs.append(Telemetry.Pair(name: sides[0], value: value))
        }
        return pairs
    }

    /// An empty variable counts as unset.
    private func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
}
