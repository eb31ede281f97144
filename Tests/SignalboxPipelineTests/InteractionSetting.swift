import Foundation
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// A queue with the event of one payload, and the intake of reports about it.
struct InteractionSetting {
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

    /// Why a body is rejected as a whole; nil if it is accepted.
    func failure(of body: [UInt8]) async -> Intake.Failure? {
        do throws(Intake.Failure) {
            _ = try await interactions.accept(body, from: SourceName("mobile"))
            return nil
        } catch { return error }
    }

    func receipt(_ identifier: String, more: String = "") async throws -> InteractionIntake.Receipt {
        try #require(try await report(identifier, more: more).items.first).get()
    }

    /// Passes the setting of a payload to `body`. Without `routes`, every event goes to `crm`.
    static func run(
        of payload: String, types: ActionTypes = ActionTypes(), keepsFiles: Bool = true, routes: RouteTable? = nil,
        _ body: (InteractionSetting) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            let routes =
                routes
                ?? RouteTable(routes: [Route(name: "all", match: .everything, destinations: [DestinationName("crm")])])
            let normalizer = Normalizer(
                chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key),
                keepsPayloads: !routes.payloadTakers.isEmpty, showsPayloads: routes.includesPayloads)
            let intake = Intake(
                normalizer: normalizer, routes: routes, queue: queue, now: { clock.now })
            let answer = try await intake.accept(Array(payload.utf8), from: SourceName("mobile"))
            guard case .report(let report) = answer else { throw NotAReport(answer: answer) }
            let files = KeptFiles()
            let decider = TapDecider(types: types) { bytes in
                guard keepsFiles else { throw NoRoom() }
                await files.add(bytes)
                return .init(sha256: String(repeating: "a", count: 64), bytes: bytes.count, href: "/media/a")
            }
            let interactions = InteractionIntake(
                gateway: "demo", routes: routes, decider: decider, queue: queue,
                variants: EventVariants(tokens: TokenHash(key: TestPipeline.key)),
                // No deadline: many tests at once may keep a read waiting.
                delayed: DelayedCall { _, _ in }, now: { clock.now })
            try await body(
                InteractionSetting(
                    queue: queue, interactions: interactions, clock: clock, directory: directory,
                    event: try #require(report.items.first).get(), files: files))
        }
    }

    private struct NotAReport: Error { let answer: Intake.Answer }
}

private struct NoRoom: Error {}

/// The stored calendar files, in their order.
actor KeptFiles {
    private var texts: [String] = []

    func add(_ bytes: [UInt8]) { texts.append(String(decoding: bytes, as: UTF8.self)) }

    /// The lines of this name.
    func lines(_ name: String) -> [String] {
        texts.flatMap { $0.components(separatedBy: "\r\n").filter { $0.hasPrefix(name + ":") } }
    }

    var all: [String] { texts }
}

/// A push of MCE with this action.
func payload(_ action: String) -> String { #"{"aps":{"alert":"x"},"notification-action":\#(action)}"# }
