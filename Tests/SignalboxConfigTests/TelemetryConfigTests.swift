import Foundation
import SignalboxConfig
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct TelemetryConfigTests {
    private func config(_ telemetry: String) throws -> GatewayConfig.Telemetry {
        let text = #"{"telemetry": \#(telemetry)}"#
        return try ConfigReading([ConfigText(name: "routes.json", bytes: Array(text.utf8))]).finish().telemetry
    }

    private func resolve(
        _ telemetry: String, _ environment: [String: String] = [:]
    ) throws -> SecretResolver.Telemetry? {
        try SecretResolver(path: "routes.json", environment: environment).telemetry(try config(telemetry))
    }

    private func problem(_ telemetry: String, _ environment: [String: String]) throws -> String? {
        do {
            _ = try resolve(telemetry, environment)
            return nil
        } catch let refusal as ConfigRefusal {
            return refusal.problems.joined()
        }
    }

    @Test func exportsOnlyToANamedCollector() throws {
        #expect(try resolve("{}") == nil)
        #expect(
            try resolve(#"{"ratio": 1}"#, ["OTEL_SERVICE_NAME": "x", "OTEL_TRACES_SAMPLER_ARG": "no number"]) == nil)
        let settings = try #require(try resolve(#"{"endpoint": "http://127.0.0.1:4318/"}"#))
        #expect(settings.endpoint == "http://127.0.0.1:4318")
        #expect(settings.ratio == 0 && settings.metrics && settings.interval == .seconds(10))
        #expect(settings.serviceName == "signalbox" && settings.headers.isEmpty && settings.attributes.isEmpty)
    }

    private static let environment = [
        "OTEL_EXPORTER_OTLP_ENDPOINT": "https://otel.example/base", "OTEL_SERVICE_NAME": "pushes",
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20abc, x-tenant=acme",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,service.name=other,team=a%2Cb",
        "OTEL_TRACES_SAMPLER_ARG": "0.25",
    ]

    @Test func readsTheEnvironmentForAbsentOptions() throws {
        let settings = try #require(try resolve("{}", Self.environment))
        #expect(settings.endpoint == "https://otel.example/base")
        #expect(settings.headers.map { "\($0.name)=\($0.value)" } == ["authorization=Bearer abc", "x-tenant=acme"])
        #expect(settings.ratio == 0.25 && settings.serviceName == "pushes")
        #expect(
            settings.attributes.map { "\($0.name)=\($0.value)" } == ["deployment.environment.name=test", "team=a,b"])
    }

    @Test func optionsWinOverTheEnvironment() throws {
        let settings = try #require(
            try resolve(
                #"""
                {"endpoint": "http://10.0.0.1:4318", "headers": {"authorization": "env:TOKEN"}, "ratio": "50%",
                 "interval": "1m", "metrics": false, "serviceName": "mine"}
                """#, Self.environment.merging(["TOKEN": "Bearer t"]) { $1 }))
        #expect(settings.endpoint == "http://10.0.0.1:4318" && settings.serviceName == "mine")
        #expect(settings.headers.map { "\($0.name)=\($0.value)" } == ["authorization=Bearer t"])
        #expect(settings.ratio == 0.5 && settings.interval == .seconds(60) && !settings.metrics)
    }

    @Test func emptyVariablesCountAsUnset() throws {
        let empty = Self.environment.mapValues { _ in "" }
        #expect(try resolve("{}", empty) == nil)
        let settings = try #require(try resolve(#"{"endpoint": "http://a.example"}"#, empty))
        #expect(settings.ratio == 0 && settings.serviceName == "signalbox")
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "otel:4317"), ("OTEL_TRACES_SAMPLER_ARG", "1.5"),
        ("OTEL_TRACES_SAMPLER_ARG", "nan"), ("OTEL_RESOURCE_ATTRIBUTES", "no-value"),
        ("OTEL_RESOURCE_ATTRIBUTES", "=x"), ("OTEL_RESOURCE_ATTRIBUTES", "a=%zz"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "content-type=hunter2"), ("OTEL_EXPORTER_OTLP_HEADERS", "x y=hunter2"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x=hunter2%0d%0ay: z"),
    ])
    func namesTheInvalidVariableWithoutItsValue(_ name: String, _ value: String) throws {
        let environment = Self.environment.merging([name: value]) { $1 }
        let problem = try #require(try problem("{}", environment))
        #expect(problem.hasPrefix(name) && problem.hasSuffix(".") && !problem.contains("hunter2"), "\(problem)")
    }

    @Test func limitsTheNumberOfAttributes() throws {
        let list = (0..<65).map { "a\($0)=b" }.joined(separator: ",")
        let problem = try problem(#"{"endpoint": "http://a.example"}"#, ["OTEL_RESOURCE_ATTRIBUTES": list])
        #expect(problem?.contains("at most 64") == true)
    }

    /// Paths are appended to the URL.
    @Test func rejectsAnEndpointWithAQuery() throws {
        #expect(throws: InvalidConfig.self) { _ = try config(#"{"endpoint": "http://127.0.0.1:4318?tenant=a"}"#) }
        let problem = try problem("{}", ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318/?tenant=hunter2"])
        #expect(problem?.hasPrefix("OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL") == true)
        #expect(problem?.contains("hunter2") == false)
    }

    @Test func aMissingHeaderSecretIsAnError() throws {
        let problem = try problem(#"{"endpoint": "http://a.example", "headers": {"x": "env:NONE"}}"#, [:])
        #expect(problem?.contains("/telemetry/headers/x") == true && problem?.contains("NONE") == true)
    }

    @Test(arguments: [("full", Destination.TraceForwarding.full), ("parent", .parent), ("none", .none)])
    func readsTheTracesOfADestination(_ word: String, _ forwarding: Destination.TraceForwarding) throws {
        func webhook(_ more: String) throws -> Destination.Webhook? {
            let text = #"{"destinations": {"a": {"url": "http://a.example", "secret": "env:A"\#(more)}}}"#
            let config = try ConfigReading([ConfigText(name: "routes.json", bytes: Array(text.utf8))]).finish()
            guard case .webhook(let webhook)? = config.destinations.first?.endpoint else { return nil }
            return webhook
        }
        #expect(try webhook(#", "trace": "\#(word)""#)?.trace == forwarding)
        #expect(try webhook("")?.trace == .full)
    }
}
