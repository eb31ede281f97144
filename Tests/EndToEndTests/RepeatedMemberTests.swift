import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// A repeated member of a body is refused everywhere: programs disagree about which of its values counts.
@Suite(.timeLimit(.minutes(15))) struct RepeatedMemberTests {
    /// A body with a repeated member for each endpoint that reads an object of the gateway's own.
    private static let bodies = [
        "POST /v1/interactions":
            #"{"eventId":"a","eventId":"b","actionIdentifier":"dismiss","deviceTime":"2026-11-20T21:29:00Z"}"#,
        "POST /v1/inapp/triggers": #"{"device":"a","device":"b"}"#,
        "POST /v1/inapp/slots": #"{"device":"a","device":"b"}"#,
        "POST /v1/inapp/offers/{id}/outcome": #"{"device":"a","device":"b"}"#,
        "POST /v1/inapp/explain": #"{"device":"a","device":"b"}"#,
        "PUT /v1/inapp/messages/{id}": #"{"vendor":"a","vendor":"b"}"#,
        "POST /v1/events/search": #"{"pattern":{},"pattern":{}}"#,
        "POST /v1/deliveries/retry": #"{"filter":{},"dryRun":true,"dryRun":true}"#,
        "POST /v1/deliveries/purge": #"{"filter":{"state":"dead","state":"delivered"},"dryRun":true}"#,
        "POST /v1/captures/search": #"{"match":{},"match":{}}"#,
        "POST /v1/captures/wait": #"{"token":"a","token":"b"}"#,
        "POST /v1/routes/match": #"{"pattern":{},"pattern":{}}"#,
        "PUT /v1/failures/{name}": #"{"delay":"1s","first":1,"first":2}"#,
    ]
    /// Bodies that are payloads, in which a repeated key is a warning of the event, and texts of configs.
    private static let foreign: Set = [
        "POST /v1/notifications", "POST /v1/sources/{source}/notifications", "POST /v1/explain",
        "POST /v1/routes/test", "POST /v1/config/check",
    ]

    @Test func everyEndpointWithABodyIsListed() {
        let endpoints = Endpoint.all.filter { $0.bodyLimit != nil }.map { "\($0.method) \($0.path)" }
        #expect(Set(endpoints) == Set(Self.bodies.keys).union(Self.foreign))
    }

    @Test func everyEndpointRefusesThem() async throws {
        try await Gateway.run { gateway, _, _ in
            for (endpoint, body) in Self.bodies {
                let parts = endpoint.split(separator: " ").map(String.init)
                let path = parts[1].replacing(/\{[a-z]+\}/, with: "x")
                let answer = try await gateway.request(parts[0], path, body)
                let detail = answer.json["detail"] as? String ?? ""
                #expect((400..<500).contains(answer.status), "\(endpoint): \(answer.json)")
                #expect(detail.contains("twice"), "\(endpoint): \(answer.json)")
            }
        }
    }
}
