import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxRouting
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// A flow over a store in memory, whose events go to `crm`.
struct InAppSetting {
    let clock = ManualDate()
    let store: MemoryInAppStore
    let flow: InAppFlow
    let counts = RouteCounts()
    let source = SourceName("mobile")

    static let everything = RouteTable(
        routes: [Route(name: "all", match: .everything, destinations: [DestinationName("crm")])])

    init(_ change: (inout Policy) -> Void = { _ in }, routes: RouteTable = everything) async throws {
        store = MemoryInAppStore(clock: clock)
        var policy = Policy()
        policy.interval = 0
        change(&policy)
        let tokens = TokenHash(key: [UInt8](repeating: 7, count: 32))
        flow = InAppFlow(
            InAppFlow.Shared(store, policy: policy),
            events: InAppEvents(
                gateway: "demo", routes: routes, variants: EventVariants(tokens: tokens, counts: counts)),
            sources: [source, SourceName("web")])
        try await flow.shared.messages.follow(store)
    }

    /// Registers a message for the event `buy`. `more`: further members of the form.
    @discardableResult
    func register(_ id: String, _ more: String = "") async throws -> InAppFlow.Shown {
        let body =
            #"{"vendor":"own","kind":"modal","triggers":[{"type":"event","name":"buy"}],"reEligibility":"always","content":{"title":"\#(id)"}\#(more)}"#
        return try await flow.register(Array(body.utf8), as: id)
    }

    /// The answer to the event `buy`.
    func buy(
        on device: String = "d-1", by user: String? = "u-9", id: String? = nil, more: String = "",
        from other: String? = nil
    ) async throws -> JSON {
        let user = user.map { #","user":"\#($0)""# } ?? ""
        let trigger = id.map { #","triggerId":"\#($0)""# } ?? ""
        let body = #"{"device":"\#(device)"\#(user)\#(trigger),"event":{"type":"event","name":"buy"}\#(more)}"#
        let sender = other.map(SourceName.init) ?? source
        return try await answer(body, from: sender)
    }

    private func answer(_ trigger: String, from source: SourceName) async throws -> JSON {
        try JSON(await flow.answer(flow.read(trigger: Array(trigger.utf8), from: source, mayExplain: true)))
    }

    func poll(on device: String = "d-1", by user: String = "u-9") async throws -> JSON {
        let body = #"{"device":"\#(device)","user":"\#(user)","event":{"type":"poll"}}"#
        return try await answer(body, from: source)
    }

    @discardableResult
    func report(
        _ outcome: String, of offer: String?, more: String = "", from other: String? = nil
    ) async throws -> JSON {
        let body = #"{"outcome":"\#(outcome)"\#(more)}"#
        let sender = other.map(SourceName.init) ?? source
        return try JSON(
            await flow.answer(flow.read(report: Array(body.utf8), of: try #require(offer), from: sender)))
    }

    /// Types of the stored events, without their common part.
    var types: [String] {
        store.events.map { event in
            let type = EventDocument(event.event.body)?.text("type") ?? ""
            return type.replacing("io.signalbox.inapp.", with: "")
        }
    }
}

/// A parsed answer, for short expectations. Unchecked: its values never change.
struct JSON: @unchecked Sendable {
    let value: Any?

    init(_ bytes: [UInt8]) throws { value = try JSONSerialization.jsonObject(with: Data(bytes)) }
    private init(value: Any?) { self.value = value }

    subscript(_ key: String) -> JSON { JSON(value: (value as? [String: Any])?[key]) }
    subscript(_ index: Int) -> JSON {
        let array = value as? [Any] ?? []
        return JSON(value: array.indices.contains(index) ? array[index] : nil)
    }

    var text: String? { value as? String }
    var count: Int { (value as? [Any])?.count ?? 0 }
    /// The id of the offer of an answer.
    var offer: String? { self["offer"]["id"].text }
    /// The message of the offer of an answer.
    var message: String? { self["offer"]["message"]["id"].text }
}

/// The failure of a request that must fail.
func failure<R>(_ work: () async throws -> R) async throws -> InAppFailure {
    do {
        _ = try await work()
    } catch let failure as InAppFailure {
        return failure
    }
    throw NoFailure()
}

private struct NoFailure: Error {}
