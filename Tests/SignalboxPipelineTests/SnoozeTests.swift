import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

/// Snoozed notifications, which are redelivered.
@Suite struct SnoozeTests {
    private let crm = DestinationName("crm")
    private let shop = DestinationName("shop")
    private let source = SourceName("mobile")

    @Test(arguments: [#""5""#, "5"])
    func deliversASnoozedNotificationAsAnotherEvent(_ minutes: String) async throws {
        try await InteractionSetting.run(of: payload(#"{"type":"snooze","value":\#(minutes)}"#)) { setting in
            let receipt = try await setting.receipt("default")
            guard case .snoozed(5, let until, let id) = receipt.decided.outcome else {
                Issue.record("\(receipt.decided.outcome)")
                return
            }
            #expect(until == setting.clock.now.addingTimeInterval(300))
            let copy = try #require(try await setting.queue.eventRecord(id.description)?.body)
            EventRecorder.record(copy)
            let parser = JSONParser()
            let event = try parser.parse(copy)
            #expect(event["id"]?.string == id.description)
            #expect(event["snoozedfrom"]?.string == setting.event.event.id.description)
            #expect(event["type"]?.string == "io.signalbox.notification.received")
            #expect(event["data"]?["action"]?["type"]?.string == "snooze")

            // Another process claims it when it is due, not before.
            let clock = setting.clock
            let later = try SQLiteQueue(in: setting.directory, now: { clock.now }, elapsed: { clock.elapsed })
            later.openLane(crm) {}
            #expect(try await later.claim(from: crm, upTo: 10).map(\.event).contains(id.description) == false)
            clock.advance(by: 299)
            try await later.tick()
            #expect(try await later.claim(from: crm, upTo: 10).isEmpty)
            clock.advance(by: 1)
            try await later.tick()
            #expect(try await later.claim(from: crm, upTo: 10).map(\.event) == [id.description])
        }
    }

    @Test func repeatedReportsSnoozeOnce() async throws {
        try await InteractionSetting.run(of: payload(#"{"type":"snooze","value":5}"#)) { setting in
            let first = try await setting.receipt("default")
            let again = try await setting.receipt("default")
            #expect(again.duplicate == first.routed.event.id.description)
            #expect(try await setting.queue.eventCount() == 3, "notification, report, return")
        }
    }

    /// An event is a few levels deeper than its payload, even when it is snoozed again.
    @Test func snoozesADeeplyNestedNotification() async throws {
        let levels = Normalizer.depthLimit - 1
        let deep = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let payload = #"{"aps":{"alert":"x"},"notification-action":\#(later),"deep":\#(deep)}"#
        try await InteractionSetting.run(of: payload) { setting in
            var id = setting.event.event.id.description
            for minute in 0..<3 {
                let report =
                    #"{"eventId":"\#(id)","actionIdentifier":"default","deviceTime":"2026-11-20T21:0\#(minute):00Z"}"#
                let answer = try await setting.interactions.accept(Array(report.utf8), from: source)
                guard case .snoozed(_, _, let next) = try #require(answer.items.first).get().decided.outcome else {
                    return #expect(Bool(false), "not snoozed")
                }
                id = next.description
                #expect(EventDocument(try #require(try await setting.queue.eventRecord(id)?.body)) != nil)
            }
        }
    }

    private let later = #"{"type":"snooze","value":5}"#

    /// The body of a snoozed notification when it is due.
    private func returned(_ setting: InteractionSetting, to destination: DestinationName) async throws -> [UInt8] {
        guard case .snoozed(_, _, let id) = try await setting.receipt("default").decided.outcome else { return [] }
        setting.queue.openLane(destination) {}
        setting.clock.advance(by: 300)
        try await setting.queue.tick()
        let leases = try await setting.queue.claim(from: destination, upTo: 10)
        return try #require(leases.first { $0.event == id.description }).body
    }

    @Test func aSnoozedEventHasTheDataOfTheFirst() async throws {
        let routes = RouteTable(routes: [
            Route(name: "all", match: .everything, destinations: [crm], including: .apns)
        ])
        try await InteractionSetting.run(of: payload(later), routes: routes) { setting in
            let body = try await returned(setting, to: crm)
            EventRecorder.record(body)
            let parser = JSONParser()
            let data = try #require(try parser.parse(body)["data"])
            #expect(data["apns"].map { JSONText($0).string } == payload(later))
        }
    }

    @Test func aSnoozedEventHasNoOrderKey() async throws {
        var routes = RouteTable(routes: [Route(name: "all", match: .everything, destinations: [crm])])
        routes.orderings[crm] = Destination.Ordering()
        try await InteractionSetting.run(of: payload(later), routes: routes) { setting in
            let receipt = try await setting.receipt("default")
            #expect(receipt.routed.followers.map { $0.deliveries.map(\.orderKey) } == [[nil]])
            #expect(receipt.routed.deliveries.map(\.orderKey) == ["mce/alert"])
        }
    }

    /// Repeats the notification of a setting with an expiry.
    private func event(of setting: InteractionSetting, endingAt end: String) async throws -> InteractionSetting {
        let json = String(decoding: setting.event.event.body, as: UTF8.self)
        let ending = Event(
            id: EventID(at: setting.clock.now, random: (1, 2)), source: source, acceptedAt: setting.clock.now,
            vendor: VendorID("mce"), kind: .alert, warnings: [],
            body: Array(json.replacing(#""kind""#, with: #""schedule":{"notAfter":"\#(end)"},"kind""#).utf8))
        let event = RoutedEvent(
            event: ending, routes: setting.event.routes, deliveries: [], payload: setting.event.payload)
        try await setting.queue.append([event])
        return InteractionSetting(
            queue: setting.queue, interactions: setting.interactions, clock: setting.clock,
            directory: setting.directory, event: event, files: setting.files)
    }

    @Test(arguments: [ScheduleParts([]), .notAfter])
    func aSnoozedEventExpiresUnlessTheRouteIgnoresIt(_ ignored: ScheduleParts) async throws {
        let routes = RouteTable(routes: [
            Route(name: "all", match: .everything, destinations: [crm], ignoring: ignored)
        ])
        try await InteractionSetting.run(of: payload(later), routes: routes) { setting in
            let other = try await event(of: setting, endingAt: "2030-01-01T00:00:00.000Z")
            let follower = try #require(try await other.receipt("default").routed.followers.first)
            #expect(follower.deliveries.map { $0.notAfter == nil } == [ignored == .notAfter])
        }
    }

    @Test func rejectsASnoozeBeyondTheExpiry() async throws {
        try await InteractionSetting.run(of: payload(later)) { setting in
            let end = Timestamp(setting.clock.now.addingTimeInterval(299)).text
            let decided = try await event(of: setting, endingAt: end).receipt("default").decided
            #expect(decided.outcome == .refused)
            #expect(decided.problems.map(\.code) == [.snoozeTooLong])
        }
    }

    @Test func aRepeatedReportHasTheOutcomeOfTheFirst() async throws {
        try await InteractionSetting.run(of: payload(later)) { setting in
            let end = Timestamp(setting.clock.now.addingTimeInterval(301)).text
            let ending = try await event(of: setting, endingAt: end)
            let first = try await ending.receipt("default")
            setting.clock.advance(by: 2)
            let again = try await ending.receipt("default")
            #expect(again.duplicate == first.routed.event.id.description)
            #expect(again.decided.outcome == .refused)
            let former = try #require(again.former)
            let reply = EventDocument(.jsonObject { $0.outcome(of: former) })
            #expect(reply?.text("outcome") == "snoozed")
            #expect(reply?.text("snooze", "eventId") == first.routed.followers.first?.event.id.description)
        }
    }

    @Test func tapsHaveNoPayload() async throws {
        var routes = RouteTable(routes: [Route(name: "all", match: .everything, destinations: [crm, shop])])
        routes.payloadTakers = [shop]
        try await InteractionSetting.run(of: payload(later), routes: routes) { setting in
            let receipt = try await setting.receipt("default")
            #expect(receipt.routed.destinations == [crm])
            #expect(receipt.routed.followers.map(\.destinations) == [[crm, shop]], "it is the payload's once more")
        }
    }

    @Test func limitsTheSnoozedBytesOfARequest() async throws {
        let large = payload(#"{"type":"snooze","value":5,"note":"\#(String(repeating: "x", count: 3_000_000))"}"#)
        try await InteractionSetting.run(of: large) { setting in
            let lines = (10..<40).map { second in
                #"{"eventId":"\#(setting.event.event.id)","actionIdentifier":"default","deviceTime":"2026-11-20T21:29:\#(second)Z"}"#
            }
            let failure = await setting.failure(of: Array(lines.joined(separator: "\n").utf8))
            guard case .interactionsTooLarge? = failure else {
                Issue.record("\(failure as Any)")
                return
            }
            let count = try await setting.queue.eventCount()
            #expect(count == 1, "nothing of it was taken")
        }
    }
}
