import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@Suite struct InteractionIntakeTests {
    private let crm = DestinationName("crm")
    private let shop = DestinationName("shop")
    private let source = SourceName("mobile")

    @Test func leavesConfiguredTypesToTheirDestination() async throws {
        var types = ActionTypes()
        types.custom["snooze"] = .init()
        types.custom["snooze"]?.destinations = [shop, crm]
        try await InteractionSetting.run(of: payload(#"{"type":"snooze","value":5}"#), types: types) { setting in
            let receipt = try await setting.receipt("default")
            #expect(receipt.decided.outcome == .passed, "the app snoozes it")
            #expect(receipt.routed.destinations == [crm, shop])
        }
    }

    private let twoCalendars = #"""
        {"aps":{"alert":"x","mutable-content":1},"category-actions":[
          {"name":"A","type":"calendar","title":"Sale","startDate":"2026-12-01T15:00:00Z","endDate":"2026-12-01T16:00:00Z"},
          {"name":"B","type":"calendar","title":"Sale","startDate":"2026-12-01T15:00:00Z","endDate":"2026-12-01T16:00:00Z"},
          {"name":"C","type":"snooze","value":"5"}]}
        """#

    /// Identifiers by title.
    private func buttons(of body: [UInt8]) throws -> [String: String] {
        let parser = JSONParser()
        let event = try parser.parse(body)
        return try withExtendedLifetime(parser) {
            let buttons = try #require(event["data"]?["category"]?["actions"]).elements
            return Dictionary(
                uniqueKeysWithValues: try buttons.map {
                    (try #require($0["title"]?.string), try #require($0["identifier"]?.string))
                })
        }
    }

    @Test func eachButtonHasOneCalendarEvent() async throws {
        try await InteractionSetting.run(of: twoCalendars) { setting in
            let buttons = try buttons(of: setting.event.event.body)
            let (a, b) = (try #require(buttons["A"]), try #require(buttons["B"]))
            for identifier in [a, b] { _ = try await setting.receipt(identifier) }
            setting.clock.advance(by: 60)
            let later =
                #"{"eventId":"\#(setting.event.event.id)","actionIdentifier":"\#(a)","deviceTime":"2026-11-20T23:00:00Z"}"#
            _ = try await setting.interactions.accept(Array(later.utf8), from: source)
            let uids = await setting.files.lines("UID")
            #expect(uids.count == 3 && Set(uids).count == 2)
            let id = setting.event.event.id.description
            #expect(uids.allSatisfy { $0.hasPrefix("UID:\(id)-") && $0.utf8.count == 4 + id.utf8.count + 17 })
            let files = await setting.files.all
            #expect(files.first == files.last)
        }
    }

    @Test func aRepeatedNotificationKeepsItsCalendarEvent() async throws {
        try await InteractionSetting.run(of: twoCalendars) { setting in
            let buttons = try buttons(of: setting.event.event.body)
            let a = try #require(buttons["A"])
            _ = try await setting.receipt(a)
            let snooze = try await setting.receipt(try #require(buttons["C"]))
            guard case .snoozed(_, _, let id) = snooze.decided.outcome else {
                Issue.record("\(snooze.decided.outcome)")
                return
            }
            let again = #"{"eventId":"\#(id)","actionIdentifier":"\#(a)","deviceTime":"2026-11-20T23:00:00Z"}"#
            _ = try await setting.interactions.accept(Array(again.utf8), from: source)
            let uids = await setting.files.lines("UID")
            #expect(uids.count == 2 && Set(uids).count == 1)
        }
    }

    @Test func leavesTheActionToTheAppIfTheFileCannotBeStored() async throws {
        let action =
            #"{"type":"calendar","title":"Sale","startDate":"2026-12-01T15:00:00Z","endDate":"2026-12-01T16:00:00Z"}"#
        try await InteractionSetting.run(of: payload(action), keepsFiles: false) { setting in
            let receipt = try await setting.receipt("default")
            #expect(receipt.decided.outcome == .passed)
            #expect(receipt.decided.problems.map(\.code) == [.calendarNotKept])
        }
    }

    @Test func includesTheTypedText() async throws {
        try await InteractionSetting.run(of: payload(#"{"type":"openApp"}"#)) { setting in
            let receipt = try await setting.receipt("default", more: #","text":"Gr\u00fc\u00dfe","activity":"banner""#)
            let parser = JSONParser()
            let data = try #require(try parser.parse(receipt.routed.event.body)["data"])
            #expect(data["text"]?.string == "Grüße")
            #expect(data["activity"]?.string == "banner")
            #expect(data["presentation"] == nil)
        }
    }

    @Test func rejectsATooLargeBatchAsAWhole() async throws {
        try await InteractionSetting.run(of: payload(#"{"type":"openApp"}"#)) { setting in
            let line =
                #"{"eventId":"\#(setting.event.event.id)","actionIdentifier":"default","deviceTime":"2026-11-20T21:29:00Z"}"#
                + "\n"
            let body = Array(String(repeating: line, count: InteractionIntake.batchLimit + 1).utf8)
            let failure = await setting.failure(of: body)
            guard case .tooManyInteractions? = failure else {
                Issue.record("\(failure as Any)")
                return
            }
            let count = try await setting.queue.eventCount()
            #expect(count == 1)
        }
    }

    @Test func recognisesRepeatsFromOtherSources() async throws {
        try await InteractionSetting.run(of: payload(#"{"type":"snooze","value":5}"#)) { setting in
            let first = try #require(try await setting.report("default", from: "app").items.first).get()
            let again = try #require(try await setting.report("default", from: "vendor").items.first).get()
            #expect(again.duplicate == first.routed.event.id.description)
            let count = try await setting.queue.eventCount()
            #expect(count == 3, "notification, report, return")
        }
    }
}
