import Foundation
import Testing

@testable import SignalboxServer

/// Every pair of faults is answered with the one that is checked first.
@Suite struct APNsOrderTests {
    /// A fault of a request, in the order of the checks.
    private struct Fault: Sendable {
        let answer: String
        var method: String?
        var path: String?
        var fields: [(String, String)] = []
        var length: Int?
    }

    private static let faults = [
        Fault(answer: "404 BadPath", path: "/3/devices/x"),
        Fault(answer: "405 MethodNotAllowed", method: "GET"),
        Fault(answer: "400 DuplicateHeaders", fields: [("apns-priority", "5"), ("apns-priority", "5")]),
        Fault(answer: "403 InvalidProviderToken", fields: [("authorization", "bearer x")]),
        Fault(answer: "400 BadMessageId", fields: [("apns-id", "x")]),
        Fault(answer: "400 BadDeviceToken", path: "/3/device/x"),
        Fault(answer: "400 BadTopic", fields: [("apns-topic", "a b")]),
        Fault(answer: "400 InvalidPushType", fields: [("apns-push-type", "x")]),
        Fault(answer: "400 BadPriority", fields: [("apns-priority", "7")]),
        Fault(answer: "400 BadExpirationDate", fields: [("apns-expiration", "x")]),
        Fault(answer: "400 BadCollapseId", fields: [("apns-collapse-id", String(repeating: "x", count: 65))]),
        Fault(answer: "413 PayloadTooLarge", length: 5000),
        Fault(answer: "400 PayloadEmpty", length: 0),
    ]

    @Test func answersWithTheFirstOfTwoFaults() async throws {
        try await APNsBench.run { bench async throws in
            for (position, first) in Self.faults.enumerated() {
                for second in Self.faults[position...] {
                    var fields = first.fields
                    // A field that both faults have differs in nothing from a repeated one.
                    for field in second.fields where !fields.contains(where: { $0.0 == field.0 }) {
                        fields.append(field)
                    }
                    if !fields.contains(where: { $0.0 == "apns-topic" }) { fields.append(APNsBench.topic) }
                    let request = APNsBench.request(
                        first.method ?? second.method ?? "POST", first.path ?? second.path ?? APNsBench.path, fields,
                        length: first.length ?? second.length ?? 20)
                    let reply = try await bench.answer(request)
                    #expect(reply.summary == first.answer, "then \(second.answer)")
                }
            }
        }
    }

    @Test func checksTheTopicBeforeThePushType() async throws {
        try await APNsBench.run { bench async throws in
            let request = APNsBench.request(headers: [("apns-push-type", "x")])
            #expect(try await bench.answer(request).summary == "400 MissingTopic")
        }
    }
}

@Suite struct APNsReasonTests {
    @Test func thePageListsEveryReasonWithItsStatus() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/reference/apns.md")
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| ") }
        for reason in APNsReason.allCases {
            let isListed = rows.contains { row in
                row.prefix(16).contains("\(reason.status)") && row.contains("`\(reason.rawValue)`")
            }
            #expect(isListed, "\(reason.rawValue)")
        }
    }
}

extension APNsBench {
    /// A request with exactly these fields.
    static func request(headers: [(String, String)]) -> ProviderRequest { request("POST", path, headers) }
}
