import Foundation
import SignalboxGateway
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Interactions, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct InteractionTests {
    private let payload = Data(
        #"""
        {"aps":{"alert":"Hi","mutable-content":1},"notification-action":{"type":"url","value":"https://ibm.com"},
         "category-actions":[{"name":"Shop","type":"url","value":"https://ibm.ca"},
          {"name":"Later","type":"snooze","value":"5","destructive":false,"authentication":false,"foreground":false},
          {"name":"Pass","type":"passbook","value":"http://a.example/p","destructive":false,"authentication":false,"foreground":true},
          {"name":"Save","type":"calendar","title":"Sale","timeZone":"America/New_York","startDate":"2026-12-01T15:00:00Z",
           "endDate":"2026-12-01T16:00:00Z","destructive":false,"authentication":false,"foreground":false}]}
        """#.utf8)

    private func report(
        _ identifier: String, on event: String, at time: String = "2026-11-20T21:29:00Z"
    ) -> Data {
        Data(#"{"eventId":"\#(event)","actionIdentifier":"\#(identifier)","deviceTime":"\#(time)"}"#.utf8)
    }

    /// Posts the payload; returns the event's id, and the identifiers of its buttons by title, from the category that
    /// an app fetches after the delivery.
    private func send(
        to gateway: Gateway, _ receiver: ReceivingServer
    ) async throws -> (id: String, buttons: [String: String]) {
        let id = try #require(try await gateway.post(payload).json["id"] as? String)
        let event = try json(try #require(await receiver.next(1).first))
        #expect(event["id"] as? String == id)
        let named = (event["data"] as? [String: Any])?["category"] as? [String: Any]
        let identifier = try #require(named?["identifier"] as? String)
        let answer = try await gateway.get("/v1/categories/\(identifier)")
        #expect(answer.status == 200)
        let category = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
        #expect(category?["identifier"] as? String == identifier)
        let actions = category?["actions"] as? [[String: Any]] ?? []
        let pairs = actions.compactMap { action in
            (action["title"] as? String).flatMap { title in (action["identifier"] as? String).map { (title, $0) } }
        }
        return (id, Dictionary(pairs) { first, _ in first })
    }

    private func json(_ message: WebhookReceiver.Message) throws -> [String: Any] {
        EventRecorder.record(message.body)
        return try #require(try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any])
    }

    @Test func aTapOnAButtonArrivesSigned() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let (id, buttons) = try await send(to: gateway, receiver)
            let shop = try #require(buttons["Shop"])
            let answer = try await gateway.post(report(shop, on: id), to: "/v1/interactions")
            #expect(answer.status == 202)
            #expect(answer.json["outcome"] as? String == "passed")
            let message = try #require(await receiver.next(1).first)
            try WebhookKeys([WebhookKey(Gateway.secret)]).verify(
                id: message.id ?? "", timestamp: message.timestamp ?? "", signatures: message.signature ?? "",
                body: message.body, now: Date())
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

    @Test func storesARepeatedReportOnce() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let (id, buttons) = try await send(to: gateway, receiver)
            let shop = try #require(buttons["Shop"])
            let first = try await gateway.post(report(shop, on: id), to: "/v1/interactions")
            let again = try await gateway.post(report(shop, on: id), to: "/v1/interactions")
            let later = try await gateway.post(
                report(shop, on: id, at: "2026-11-20T21:30:00Z"), to: "/v1/interactions")
            #expect(again.status == 202 && again.json["duplicate"] as? Bool == true)
            #expect(again.json["id"] as? String == first.json["id"] as? String)
            #expect(later.json["duplicate"] == nil)
            let ids = await receiver.next(2).map(\.id)
            #expect(Set(ids) == Set([first.json["id"] as? String, later.json["id"] as? String]))
        }
    }

    @Test func reportsInvalidInteractions() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let (id, buttons) = try await send(to: gateway, receiver)
            let missing = "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11"
            let unknownEvent = try await gateway.post(report("default", on: missing), to: "/v1/interactions")
            #expect(unknownEvent.status == 404 && unknownEvent.json["code"] as? String == "event-not-found")
            let unknownAction = try await gateway.post(report("nope", on: id), to: "/v1/interactions")
            #expect(unknownAction.status == 422 && unknownAction.json["code"] as? String == "action-not-found")
            #expect((unknownAction.json["detail"] as? String)?.contains(buttons["Shop"] ?? "?") == true)
            let malformed = try await gateway.post(Data(#"{"eventId":"x"}"#.utf8), to: "/v1/interactions")
            #expect(malformed.status == 422 && malformed.json["code"] as? String == "interaction-malformed")
            let tap = try await gateway.post(report("default", on: id), to: "/v1/interactions")
            let onTap = try await gateway.post(
                report("default", on: tap.json["id"] as? String ?? ""), to: "/v1/interactions")
            #expect(onTap.status == 422 && onTap.json["code"] as? String == "event-not-a-notification")
            let batch = try await gateway.post(
                report("default", on: id, at: "2026-11-20T22:00:00Z") + Data("\n".utf8) + report("nope", on: id)
                    + Data("\nnot json".utf8), to: "/v1/interactions")
            #expect(batch.status == 207 && batch.json["accepted"] as? Int == 1 && batch.json["rejected"] as? Int == 2)
            let empty = try await gateway.post(Data(), to: "/v1/interactions")
            #expect(empty.status == 400)
        }
    }

    /// A request may have many reports about one event, and one character any number of marks.
    @Test func namesLongButtonsInPart() async throws {
        try await Gateway.run { gateway, _, _ in
            let value = "x" + String(repeating: "\u{301}", count: 100_000)
            let payload =
                #"{"aps":{"alert":"x"},"notification-action":{"type":"url","value":"https://ibm.com"},"#
                + #""category-name":"c","category-actions":[{"name":"n","type":"other","value":"\#(value)"}]}"#
            let sent = try await gateway.post(Data(payload.utf8), to: "/v1/notifications")
            let id = try #require(sent.json["id"] as? String)
            let answer = try await gateway.post(report("nope", on: id), to: "/v1/interactions", keeping: 64 * 1024)
            let detail = try #require(answer.json["detail"] as? String)
            #expect(detail.contains("other:") && (2_000..<2_500).contains(detail.unicodeScalars.count))
        }
    }

    @Test func rejectsUnsafeURLs() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let (id, buttons) = try await send(to: gateway, receiver)
            let answer = try await gateway.post(
                report(try #require(buttons["Pass"]), on: id), to: "/v1/interactions")
            #expect(answer.status == 202 && answer.json["outcome"] as? String == "refused")
            let problems = answer.json["problems"] as? [[String: Any]]
            #expect(problems?.first?["code"] as? String == "action.not-https")
            let data = try json(try #require(await receiver.next(1).first))["data"] as? [String: Any]
            #expect(data?["outcome"] as? String == "refused", "that it was tapped is known all the same")
        }
    }

    @Test func aSnoozedNotificationWaitsAcrossARestart() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let first = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let (id, buttons) = try await send(to: first, receiver)
                let later = try #require(buttons["Later"])
                let answer = try await first.post(report(later, on: id), to: "/v1/interactions")
                #expect(answer.json["outcome"] as? String == "snoozed")
                let snooze = try #require(answer.json["snooze"] as? [String: Any])
                #expect(snooze["minutes"] as? Int == 5)
                #expect(await receiver.next(1).first?.id == answer.json["id"] as? String)
                _ = try await first.post(report(later, on: id), to: "/v1/interactions")
                await first.kill()
                let second = try await Gateway.start(in: directory)
                let list = try await binary.run(["deliveries", "list", "--state", "waiting", "--json"], in: directory)
                let waiting = try list.output.split(separator: "\n").map {
                    try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
                #expect(waiting.count == 1, "a repeated report puts nothing off twice")
                #expect(waiting.first?["event"] as? String == snooze["eventId"] as? String)
                #expect(waiting.first?["notBefore"] as? String == snooze["until"] as? String)
                #expect(await second.stop() == 0)
            }
        }
    }

    @Test func aTapOnACalendarActionOffersItsFile() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let (id, buttons) = try await send(to: gateway, receiver)
            let answer = try await gateway.post(
                report(try #require(buttons["Save"]), on: id), to: "/v1/interactions")
            #expect(answer.json["outcome"] as? String == "rendered")
            let data = try json(try #require(await receiver.next(1).first))["data"] as? [String: Any]
            let media = try #require((data?["media"] as? [[String: Any]])?.first)
            let file = try await gateway.get(try #require(media["href"] as? String))
            #expect(file.status == 200)
            #expect(file.text.hasPrefix("BEGIN:VCALENDAR\r\n"))
            #expect(file.text.utf8.count == media["bytes"] as? Int)
            #expect(file.text.contains("SUMMARY:Sale\r\n"))
            #expect(file.text.contains("DTSTART;TZID=America/New_York:20261201T100000\r\n"))
            let again = try await gateway.post(
                report(try #require(buttons["Save"]), on: id), to: "/v1/interactions")
            let repeated = (again.json["media"] as? [[String: Any]])?.first
            #expect(repeated?["sha256"] as? String == media["sha256"] as? String, "a repeat makes no other file")
        }
    }
}
