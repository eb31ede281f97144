import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// The flow over SQLite, and the state that the next process finds.
@Suite struct InAppRestartTests {
    private let source = SourceName("mobile")

    private func flow(_ queue: SQLiteQueue) async throws -> InAppFlow {
        var policy = Policy()
        policy.interval = 0
        let tokens = TokenHash(key: [UInt8](repeating: 7, count: 32))
        let flow = InAppFlow(
            InAppFlow.Shared(queue, policy: policy),
            events: InAppEvents(
                gateway: "demo", routes: InAppSetting.everything, variants: EventVariants(tokens: tokens)))
        try await flow.shared.messages.follow(queue)
        return flow
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func anotherProcessContinuesWithMessagesAndOffers() async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            func open() throws -> SQLiteQueue {
                try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            }
            let message =
                #"{"vendor":"own","kind":"modal","triggers":[{"type":"sessionStart"}],"content":{"title":"x"}}"#
            let trigger = bytes(#"{"triggerId":"t-1","device":"d-1","user":"u-1","event":{"type":"sessionStart"}}"#)
            var offer: String?
            do {
                let first = try await flow(try open())
                _ = try await first.register(bytes(message), as: "hello")
                let request = try first.read(trigger: trigger, from: source, mayExplain: true)
                let answer = try JSON(await first.answer(request))
                #expect(answer["offer"]["message"]["content"]["title"].text == "x")
                offer = answer.offer
            }
            let id = try #require(offer)
            let queue = try open()
            let second = try await flow(queue)
            let again = try second.read(trigger: trigger, from: source, mayExplain: true)
            #expect(try JSON(await second.answer(again)).offer == id)
            for _ in 0..<2 {
                let shown = try second.read(report: bytes(#"{"outcome":"shown"}"#), of: id, from: source)
                let report = try JSON(await second.answer(shown))
                #expect(report["state"].text == "shown")
            }
            let value1 = try await queue.gauges()[DestinationName("crm")]?.accepted
            #expect(value1 == 2, "offered and impression")
        }
    }

    /// Messages that an event brings are active when the append returns.
    @Test func aMessageOfAnEventIsActiveAtOnce() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let flow = try await flow(queue)
            let form = #"{"vendor":"braze","kind":"modal","triggers":[{"type":"sessionStart"}]}"#
            let event = Event(
                id: EventID(at: Date(), random: (1, 2)), source: source, acceptedAt: Date(), vendor: .unknown,
                kind: .alert, warnings: [], body: bytes("{}"))
            let registration = InAppRegistration(id: "braze:1", body: bytes(form))
            _ = try await queue.append([
                RoutedEvent(event: event, routes: [], deliveries: [], messages: [registration])
            ])
            #expect(flow.shared.messages.counts.active == 1)
        }
    }
}
