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

@Suite struct IntakeTests {
    private let good = #"{"aps":{"alert":"x"}}"#

    /// An intake over a real queue, routed to one destination.
    private func withIntake(_ body: (Intake, SQLiteQueue) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let route = Route(name: "all", match: .everything, destinations: [DestinationName("crm")])
            let intake = Intake(
                normalizer: TestPipeline().normalizer, routes: RouteTable(routes: [route]), queue: queue,
                now: { TestPipeline.time })
            try await body(intake, queue)
        }
    }

    private func accept(_ body: String, by intake: Intake) async throws -> Intake.Report {
        guard case .report(let report) = try await intake.accept(Array(body.utf8), from: SourceName("mobile")) else {
            throw CancellationError()
        }
        for item in report.items { if case .success(let routed) = item { EventRecorder.record(routed.event.body) } }
        return report
    }

    @Test func onePayloadIsOnDiskWithItsDeliveryWhenAccepted() async throws {
        try await withIntake { intake, queue in
            let report = try await accept(good, by: intake)
            #expect(!report.isBatch)
            #expect(report.items.count == 1)
            let routed = try #require(report.items.first).get()
            #expect(routed.routes == ["all"])
            #expect(routed.event.acceptedAt == TestPipeline.time)
            #expect(try await queue.eventCount() == 1)
            #expect(try await queue.eventRecord(routed.event.id.description)?.body == routed.event.body)
            #expect(try await queue.counts() == [DestinationName("crm"): [.waiting: 1]])
        }
    }

    @Test func repeatsAreOfTheSameTypeAndValue() async throws {
        let dedupe = #"{"key":"/data/custom/k","window":"1d"}"#
        let sources = #"{"sources":{"mobile":{"auth":{"bearer":["env:T"]},"dedupe":\#(dedupe)}}}"#
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let intake = Intake(
                normalizer: TestPipeline().normalizer, routes: RouteTable(routes: []), queue: queue,
                sources: try RoutedConfig(Array(sources.utf8)).config.sources)
            let values = ["5", #""5""#, "true", #""true""#, "[1]", #"{"a":1}"#, "1.5", #""1.5""#]
            for value in values + values { _ = try await accept(#"{"aps":{"alert":"x"},"k":\#(value)}"#, by: intake) }
            #expect(try await queue.eventCount() == values.count)
        }
    }

    /// ``Intake/accept(_:from:as:trace:)`` and `readOne` also keep the same payload.
    @Test func bothPathsReadAPayloadAlike() async throws {
        try await withTemporaryDirectory { directory in
            let normalizer = Normalizer(
                chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key), keepsPayloads: true)
            let intake = Intake(
                normalizer: normalizer, routes: RouteTable(routes: []), queue: try SQLiteQueue(in: directory),
                now: { TestPipeline.time })
            for body in [good, " \t\(good)\r\n", #"{"a":1,"a":2}"#, "{}", #"{"message":{"data":{"b":"c"}}}"#] {
                let atOnce = try #require(readOne(body, by: intake))
                let otherwise = try await accept(body, by: intake)
                let events = try [atOnce, otherwise].map { try #require($0.items.first).get().event }
                #expect(events[0].payload == events[1].payload)
                #expect(events[0].warnings == events[1].warnings)
                #expect(events[0].body.count == events[1].body.count)
                #expect(atOnce.isBatch == otherwise.isBatch)
            }
        }
    }

    @Test(
        arguments: [
            "", " ", "nope", "{", "[]", #"[{"aps":{}}]"#, "{}\n{}", "{} {}", "{},", "{}\u{0}", "42", "\u{FEFF}{}",
        ])
    func readOneAcceptsOnePayloadOnly(body: String) async throws {
        try await withIntake { intake, _ in #expect(readOne(body, by: intake) == nil) }
    }

    /// An event loop must not evaluate such routes; a task does, once.
    @Test func readOneLeavesCostlyRoutesToATask() async throws {
        try await withTemporaryDirectory { directory in
            let routes = try (0..<300).map { number in
                let pattern = #"{"data":{"content":{"body":[{"wildcard":"*a*\#(number)*b*"}]}}}"#
                return Route(
                    name: "r\(number)", match: try Pattern(text: Array(pattern.utf8)),
                    destinations: [DestinationName("crm")])
            }
            let intake = Intake(
                normalizer: TestPipeline().normalizer, routes: RouteTable(routes: routes),
                queue: try SQLiteQueue(in: directory))
            let text = String(repeating: "a" + (0..<300).map { "\($0)" }.joined(), count: 18)
            let costly = #"{"aps":{"alert":"\#(text)"}}"#
            #expect(readOne(good, by: intake) != nil)
            #expect(readOne(costly, by: intake) == nil)
            #expect(try await accept(costly, by: intake).items.compactMap { try? $0.get() }.count == 1)
        }
    }

    @Test func readOneIsDurableWhenDone() async throws {
        try await withIntake { intake, queue in
            let read = try #require(readOne(good, by: intake))
            let report = try await withCheckedContinuation { done in
                intake.accept(read) { done.resume(returning: $0) }
            }.get()
            #expect(report.duplicates.isEmpty)
            #expect(try await queue.eventCount() == 1)
            intake.accept(try #require(readOne(good, by: intake))) { _ in }
            await intake.finish()
            #expect(try await queue.eventCount() == 2)
        }
    }

    private func readOne(_ body: String, by intake: Intake) -> Intake.Report? {
        Array(body.utf8).withUnsafeBufferPointer { intake.readOne($0, from: SourceName("mobile")) }
    }

    @Test func resultsOfABatchKeepItsOrder() async throws {
        try await withIntake { intake, queue in
            for body in ["[\(good), {}, \(good)]", "\(good)\n{}\n\(good)\n"] {
                let report = try await accept(body, by: intake)
                #expect(report.isBatch)
                #expect(report.items.compactMap { try? $0.get().event.kind } == [.alert, .silent, .alert])
            }
            #expect(try await accept("[\(good)]", by: intake).isBatch)
            #expect(try await accept("[\(good)", by: intake).isBatch)
            #expect(try await queue.eventCount() == 8)
        }
    }

    @Test func storesTheValidPayloadsOfAMixedBatch() async throws {
        try await withIntake { intake, queue in
            let report = try await accept("\(good)\nnope\n\(good)\n{\"a\":\n", by: intake)
            #expect(report.isBatch)
            #expect(
                report.items.map { item in
                    switch item {
                    case .success: "ok"
                    case .failure(let rejection): "\(rejection.place.line) \(rejection.code.rawValue)"
                    }
                } == ["ok", "2 payload-not-json", "ok", "4 payload-truncated"])
            #expect(try await queue.eventCount() == 2)
        }
    }

    @Test func storesNoEventForAnInvalidPayload() async throws {
        try await withIntake { intake, queue in
            let report = try await accept("{\"aps\":", by: intake)
            #expect(!report.isBatch)
            #expect(report.items.count == 1)
            #expect(try await queue.eventCount() == 0)
        }
    }

    /// The event around such a payload is larger and nested deeper than the payload itself may be.
    @Test func aPayloadAtItsLimitsIsRouted() async throws {
        try await withIntake { intake, queue in
            let levels = Normalizer.depthLimit - 1
            let deep = String(repeating: "{\"a\":", count: levels) + "1" + String(repeating: "}", count: levels)
            let large = "{\"a\":\"" + String(repeating: "\\u0001", count: Normalizer.payloadLimit / 6 - 2) + "\"}"
            for body in [deep, large] {
                let routed = try #require(try await accept(body, by: intake).items.first).get()
                #expect(routed.routes == ["all"])
            }
            #expect(try await queue.eventCount() == 2)
        }
    }

    @Test func rejectsAnEmptyBodyAndAnEmptyArray() async throws {
        try await withIntake { intake, queue in
            for (body, isBatch) in [("", false), (" \n", false), ("[]", true), ("[ ]\n", true)] {
                let report = try await accept(body, by: intake)
                #expect(report.items.isEmpty)
                #expect(report.isBatch == isBatch)
            }
            #expect(try await queue.eventCount() == 0)
        }
    }

    @Test func rejectsABatchOverTheLimitAsAWhole() async throws {
        try await withIntake { intake, queue in
            let atLimit = String(repeating: "{}\n", count: Intake.batchLimit)
            // Not recorded: ten thousand times the same.
            guard case .report(let taken) = try await intake.accept(Array(atLimit.utf8), from: .default) else {
                Issue.record("Nobody asked for an answer to be repeated.")
                return
            }
            #expect(taken.items.count == Intake.batchLimit)
            for body in ["\(atLimit){}", String(repeating: "{}", count: Intake.batchLimit + 1)] {
                await #expect(throws: Intake.Failure.self) { try await intake.accept(Array(body.utf8), from: .default) }
            }
            // Two on each line, which only the splitter finds.
            let pairs = String(repeating: "{}{}\n", count: Intake.batchLimit / 2 + 1)
            await #expect(throws: Intake.Failure.self) { try await intake.accept(Array(pairs.utf8), from: .default) }
            #expect(try await queue.eventCount() == Intake.batchLimit)
        }
    }

    @Test func addsTheShownPayloadOnlyForRoutesThatIncludeIt() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let (plain, shown) = (DestinationName("plain"), DestinationName("shown"))
            let routes = RouteTable(routes: [
                Route(name: "a", match: .everything, destinations: [plain]),
                Route(name: "b", match: .everything, destinations: [shown, plain], including: .apns),
            ])
            let normalizer = Normalizer(
                chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key), showsPayloads: true)
            let intake = Intake(normalizer: normalizer, routes: routes, queue: queue)
            _ = try await accept(good, by: intake)
            for name in [plain, shown] { queue.openLane(name) {} }
            let bodies = [
                try await queue.claim(from: plain, upTo: 1).first?.body,
                try await queue.claim(from: shown, upTo: 1).first?.body,
            ]
            let parser = JSONParser()
            #expect(try parser.parse(try #require(bodies[0]))["data"]?["apns"] == nil)
            let event = try parser.parse(try #require(bodies[1]))
            #expect(event["data"]?["apns"].map { JSONText($0).string } == good)
            EventRecorder.record(try #require(bodies[1]))
        }
    }
}
