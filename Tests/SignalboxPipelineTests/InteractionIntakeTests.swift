import Foundation
import SignalboxActions
import SignalboxJSON
import SignalboxModel
import SignalboxPipeline
import SignalboxRouting
import SignalboxStore
import SignalboxTesting
import SignalboxVendors
import Testing

@Suite struct InteractionIntakeTests {
    private let crm = DestinationName("crm")
    private let shop = DestinationName("shop")
    private let source = SourceName("mobile")

    /// A queue that holds the event of one payload, and the intake of what is reported about it.
    private struct Setting {
        let queue: SQLiteQueue
        let interactions: InteractionIntake
        let clock: ManualDate
        let directory: String
        let event: RoutedEvent
        let files: KeptFiles

        func report(
            _ identifier: String, more: String = "", from source: String = "mobile"
        ) async throws -> InteractionIntake.Report {
            let body =
                #"{"eventId":"\#(event.event.id)","actionIdentifier":"\#(identifier)","deviceTime":"2026-11-20T21:29:00Z"\#(more)}"#
            let report = try await interactions.accept(Array(body.utf8), from: SourceName(source))
            for item in report.items { if case .success(let it) = item { EventRecorder.record(it.routed.event.body) } }
            return report
        }

        func receipt(_ identifier: String, more: String = "") async throws -> InteractionIntake.Receipt {
            try #require(try await report(identifier, more: more).items.first).get()
        }
    }

    private struct NoRoom: Error {}

    /// The calendar files that were made, in their order.
    private actor KeptFiles {
        private var texts: [String] = []

        func add(_ bytes: [UInt8]) { texts.append(String(decoding: bytes, as: UTF8.self)) }

        /// The lines of this name.
        func lines(_ name: String) -> [String] {
            texts.flatMap { $0.components(separatedBy: "\r\n").filter { $0.hasPrefix(name + ":") } }
        }

        var all: [String] { texts }
    }

    private func withEvent(
        of payload: String, types: ActionTypes = ActionTypes(), keepsFiles: Bool = true, routes: RouteTable? = nil,
        _ body: (Setting) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            let routes =
                routes ?? RouteTable(routes: [Route(name: "all", match: .everything, destinations: [crm])])
            let normalizer = Normalizer(
                chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key),
                keepsPayloads: !routes.payloadTakers.isEmpty, showsPayloads: routes.includesPayloads)
            let intake = Intake(
                normalizer: normalizer, routes: routes, queue: queue, now: { clock.now })
            guard case .report(let report) = try await intake.accept(Array(payload.utf8), from: source) else { return }
            let files = KeptFiles()
            let decider = TapDecider(types: types) { bytes in
                guard keepsFiles else { throw NoRoom() }
                await files.add(bytes)
                return .init(sha256: String(repeating: "a", count: 64), bytes: bytes.count, href: "/media/a")
            }
            let interactions = InteractionIntake(
                gateway: "demo", routes: routes, decider: decider, queue: queue, now: { clock.now })
            try await body(
                Setting(
                    queue: queue, interactions: interactions, clock: clock, directory: directory,
                    event: try #require(report.items.first).get(), files: files))
        }
    }

    private func payload(_ action: String) -> String { #"{"aps":{"alert":"x"},"notification-action":\#(action)}"# }

    @Test(arguments: [#""5""#, "5"])
    func aSnoozedNotificationComesAgainAsAnEventOfItsOwn(_ minutes: String) async throws {
        try await withEvent(of: payload(#"{"type":"snooze","value":\#(minutes)}"#)) { setting in
            let receipt = try await setting.receipt("default")
            guard case .snoozed(5, let until, let id) = receipt.decided.outcome else {
                Issue.record("\(receipt.decided.outcome)")
                return
            }
            #expect(until == setting.clock.now.addingTimeInterval(300))
            let copy = try #require(try await setting.queue.body(ofEvent: id.description))
            EventRecorder.record(copy)
            let parser = JSONParser()
            let event = try parser.parse(copy)
            #expect(event["id"]?.string == id.description)
            #expect(event["snoozedfrom"]?.string == setting.event.event.id.description)
            #expect(event["type"]?.string == "io.signalbox.notification.received")
            #expect(event["data"]?["action"]?["type"]?.string == "snooze")

            // Another process finds it when its time has come, and not before.
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

    @Test func aRepeatPutsNothingOffTwice() async throws {
        try await withEvent(of: payload(#"{"type":"snooze","value":5}"#)) { setting in
            let first = try await setting.receipt("default")
            let again = try await setting.receipt("default")
            #expect(again.duplicate == first.routed.event.id.description)
            #expect(try await setting.queue.eventCount() == 3, "notification, report, return")
        }
    }

    @Test func whoNamesATypeGetsItsTapsAndHandlesIt() async throws {
        var types = ActionTypes()
        types.custom["snooze"] = .init()
        types.custom["snooze"]?.destinations = [shop, crm]
        try await withEvent(of: payload(#"{"type":"snooze","value":5}"#), types: types) { setting in
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

    @Test func eachButtonsCalendarEventIsAnotherAndASecondTapMakesTheSameFile() async throws {
        try await withEvent(of: twoCalendars) { setting in
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

    @Test func aNotificationThatCameAgainIsTheSameCalendarEvent() async throws {
        try await withEvent(of: twoCalendars) { setting in
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

    @Test func aFileThatCannotBeKeptLeavesTheActionToTheApp() async throws {
        let action =
            #"{"type":"calendar","title":"Sale","startDate":"2026-12-01T15:00:00Z","endDate":"2026-12-01T16:00:00Z"}"#
        try await withEvent(of: payload(action), keepsFiles: false) { setting in
            let receipt = try await setting.receipt("default")
            #expect(receipt.decided.outcome == .passed)
            #expect(receipt.decided.problems.map(\.code) == [.calendarNotKept])
        }
    }

    @Test func whatWasTypedGoesAlong() async throws {
        try await withEvent(of: payload(#"{"type":"openApp"}"#)) { setting in
            let receipt = try await setting.receipt("default", more: #","text":"Gr\u00fc\u00dfe","activity":"banner""#)
            let parser = JSONParser()
            let data = try #require(try parser.parse(receipt.routed.event.body)["data"])
            #expect(data["text"]?.string == "Grüße")
            #expect(data["activity"]?.string == "banner")
            #expect(data["presentation"] == nil)
        }
    }

    @Test func moreThanABatchIsRefusedWhole() async throws {
        try await withEvent(of: payload(#"{"type":"openApp"}"#)) { setting in
            let line =
                #"{"eventId":"\#(setting.event.event.id)","actionIdentifier":"default","deviceTime":"2026-11-20T21:29:00Z"}"#
                + "\n"
            let body = Array(String(repeating: line, count: InteractionIntake.batchLimit + 1).utf8)
            let report = try? await setting.interactions.accept(body, from: source)
            #expect(report == nil)
            let count = try await setting.queue.eventCount()
            #expect(count == 1)
        }
    }

    // MARK: What comes again

    private let later = #"{"type":"snooze","value":5}"#

    /// The body of a snoozed notification, once its time has come.
    private func returned(_ setting: Setting, to destination: DestinationName) async throws -> [UInt8] {
        guard case .snoozed(_, _, let id) = try await setting.receipt("default").decided.outcome else { return [] }
        setting.queue.openLane(destination) {}
        setting.clock.advance(by: 300)
        try await setting.queue.tick()
        let leases = try await setting.queue.claim(from: destination, upTo: 10)
        return try #require(leases.first { $0.event == id.description }).body
    }

    @Test func itCarriesWhatTheFirstDid() async throws {
        let routes = RouteTable(routes: [
            Route(name: "all", match: .everything, destinations: [crm], including: .apns)
        ])
        try await withEvent(of: payload(later), routes: routes) { setting in
            let body = try await returned(setting, to: crm)
            EventRecorder.record(body)
            let parser = JSONParser()
            let data = try #require(try parser.parse(body)["data"])
            #expect(data["apns"].map { JSONText($0).string } == payload(later))
        }
    }

    @Test func itHoldsUpNobodyInALine() async throws {
        var routes = RouteTable(routes: [Route(name: "all", match: .everything, destinations: [crm])])
        routes.orderings[crm] = Destination.Ordering()
        try await withEvent(of: payload(later), routes: routes) { setting in
            let receipt = try await setting.receipt("default")
            #expect(receipt.routed.followers.map { $0.deliveries.map(\.orderKey) } == [[nil]])
            #expect(receipt.routed.deliveries.map(\.orderKey) == ["mce/alert"])
        }
    }

    /// The notification of a setting once more, with an end.
    private func event(of setting: Setting, endingAt end: String) async throws -> Setting {
        let json = String(decoding: setting.event.event.body, as: UTF8.self)
        var event = setting.event
        event.event = Event(
            id: EventID(at: setting.clock.now, random: (1, 2)), source: source, acceptedAt: setting.clock.now,
            vendor: VendorID("mce"), kind: .alert, warnings: [],
            body: Array(json.replacing(#""kind""#, with: #""schedule":{"notAfter":"\#(end)"},"kind""#).utf8))
        event.deliveries = []
        try await setting.queue.append([event])
        return Setting(
            queue: setting.queue, interactions: setting.interactions, clock: setting.clock,
            directory: setting.directory, event: event, files: setting.files)
    }

    @Test(arguments: [ScheduleParts([]), .notAfter])
    func itEndsWithItsScheduleUnlessTheRouteIgnoresThat(_ ignored: ScheduleParts) async throws {
        let routes = RouteTable(routes: [
            Route(name: "all", match: .everything, destinations: [crm], ignoring: ignored)
        ])
        try await withEvent(of: payload(later), routes: routes) { setting in
            let other = try await event(of: setting, endingAt: "2030-01-01T00:00:00.000Z")
            let follower = try #require(try await other.receipt("default").routed.followers.first)
            #expect(follower.deliveries.map { $0.notAfter == nil } == [ignored == .notAfter])
        }
    }

    @Test func whatIsOverByThenIsNotPutOff() async throws {
        try await withEvent(of: payload(later)) { setting in
            let end = Timestamp(setting.clock.now.addingTimeInterval(299)).text
            let decided = try await event(of: setting, endingAt: end).receipt("default").decided
            #expect(decided.outcome == .refused)
            #expect(decided.problems.map(\.code) == [.snoozeTooLong])
        }
    }

    @Test func whoeverReportsItItIsOneTap() async throws {
        try await withEvent(of: payload(later)) { setting in
            let first = try #require(try await setting.report("default", from: "app").items.first).get()
            let again = try #require(try await setting.report("default", from: "vendor").items.first).get()
            #expect(again.duplicate == first.routed.event.id.description)
            let count = try await setting.queue.eventCount()
            #expect(count == 3, "notification, report, return")
        }
    }

    @Test func whoWantsPayloadsGetsNoTaps() async throws {
        var routes = RouteTable(routes: [Route(name: "all", match: .everything, destinations: [crm, shop])])
        routes.payloadTakers = [shop]
        try await withEvent(of: payload(later), routes: routes) { setting in
            let receipt = try await setting.receipt("default")
            #expect(receipt.routed.destinations == [crm])
            #expect(receipt.routed.followers.map(\.destinations) == [[crm, shop]], "it is the payload's once more")
        }
    }

    @Test func aSmallRequestCannotPutOffMoreThanARequestMayHold() async throws {
        let large = payload(#"{"type":"snooze","value":5,"note":"\#(String(repeating: "x", count: 3_000_000))"}"#)
        try await withEvent(of: large) { setting in
            let lines = (10..<40).map { second in
                #"{"eventId":"\#(setting.event.event.id)","actionIdentifier":"default","deviceTime":"2026-11-20T21:29:\#(second)Z"}"#
            }
            let report = try? await setting.interactions.accept(
                Array(lines.joined(separator: "\n").utf8), from: source)
            #expect(report == nil)
            let count = try await setting.queue.eventCount()
            #expect(count == 1, "nothing of it was taken")
        }
    }
}
