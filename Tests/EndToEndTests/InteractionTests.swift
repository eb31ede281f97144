import Foundation
import SignalboxDelivery
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// What happens after the tap, on the built binary from outside.
@Suite(.timeLimit(.minutes(3))) struct InteractionTests {
    private let payload = Data(
        #"""
        {"aps":{"alert":"Hi","mutable-content":1},"notification-action":{"type":"url","value":"https://ibm.com"},
         "category-actions":[{"name":"Shop","type":"url","value":"https://ibm.ca"},
          {"name":"Later","type":"snooze","value":"5","destructive":false,"authentication":false,"foreground":false},
          {"name":"Pass","type":"passbook","value":"http://a.example/p","destructive":false,"authentication":false,"foreground":true},
          {"name":"Save","type":"calendar","title":"Sale","timeZone":"America/New_York","startDate":"2026-12-01T15:00:00Z",
           "endDate":"2026-12-01T16:00:00Z","destructive":false,"authentication":false,"foreground":false}]}
        """#.utf8)

    private func withGateway(
        more: String = "", _ body: @escaping @Sendable (Gateway, ReceivingServer, String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(
                    in: directory, config: Gateway.config(to: receiver.url, more: more))
                try await body(gateway, receiver, directory)
                #expect(await gateway.stop() == 0)
            }
        }
    }

    private func report(
        _ identifier: String, on event: String, at time: String = "2026-11-20T21:29:00Z"
    ) -> Data {
        Data(#"{"eventId":"\#(event)","actionIdentifier":"\#(identifier)","deviceTime":"\#(time)"}"#.utf8)
    }

    /// Posts the payload; returns the event's id, and its buttons' identifiers by title once it was delivered.
    private func send(
        to gateway: Gateway, _ receiver: ReceivingServer
    ) async throws -> (id: String, buttons: [String: String]) {
        let id = try #require(try await gateway.post(payload).json["id"] as? String)
        let event = try json(try #require(await receiver.next(1).first))
        #expect(event["id"] as? String == id)
        let category = (event["data"] as? [String: Any])?["category"] as? [String: Any]
        let actions = category?["actions"] as? [[String: Any]] ?? []
        let pairs = actions.compactMap { action in
            (action["title"] as? String).flatMap { title in (action["identifier"] as? String).map { (title, $0) } }
        }
        return (id, Dictionary(pairs) { first, _ in first })
    }

    private func json(_ message: ReceivedWebhook) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any])
    }

    @Test func aTapOnAButtonArrivesSigned() async throws {
        try await withGateway { gateway, receiver, _ in
            let (id, buttons) = try await send(to: gateway, receiver)
            let shop = try #require(buttons["Shop"])
            let answer = try await gateway.post(report(shop, on: id), to: "/v1/interactions")
            #expect(answer.status == 202)
            #expect(answer.json["outcome"] as? String == "passed")
            let message = try #require(await receiver.next(1).first)
            #expect(message.isVerified)
            let event = try json(message)
            #expect(event["type"] as? String == "io.signalbox.interaction.received")
            #expect(event["id"] as? String == answer.json["id"] as? String)
            #expect(event["subject"] as? String == "mce/alert")
            let data = try #require(event["data"] as? [String: Any])
            #expect((data["notification"] as? [String: Any])?["id"] as? String == id)
            #expect((data["action"] as? [String: Any])?["value"] as? String == "https://ibm.ca")
            #expect(data["title"] as? String == "Shop")
        }
    }
}
