import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// 2026-11-22T12:00:00Z, a Sunday.
let noon: Instant = 1_795_348_800_000
let second: Span = 1000
let minute: Span = 60 * second
let hour: Span = 60 * minute

/// Drives the engine as a gateway does: every step loads its rows anew and keeps only the row changes, so each test
/// also shows that the rows are enough to continue after a restart.
struct World {
    var policy = Policy()
    var messages = MessageIndex()
    var addressed: [DeviceID: MessageIndex] = [:]
    var rows = MemoryRows()
    var now = noon
    var client = ClientState(foreground: true, screen: "home")
    var clients: [DeviceID: ClientState] = [:]
    var records: [Record] = []
    var tickets = 0
    /// Whether each decision is compared with its explanation.
    var comparesExplanations = true

    var engine: InAppEngine { InAppEngine(policy: policy) }

    init(_ definitions: Definition..., interval: Span = 0) {
        policy.interval = interval
        for definition in definitions { messages.register(definition) }
    }

    func active(_ device: DeviceID) -> ActiveMessages {
        ActiveMessages(messages, addressed: addressed[device] ?? MessageIndex())
    }

    mutating func ticket() -> String {
        tickets += 1
        return "of_\(tickets)"
    }

    @discardableResult
    mutating func trigger(
        _ event: TriggerEvent, device: DeviceID = "phone", user: UserID? = "ann", id: String? = nil,
        deviceTime: Instant? = nil, explain: Bool = false
    ) -> Answer {
        let request = TriggerRequest(
            id: id, device: device, user: user, event: event, client: clients[device] ?? client, deviceTime: deviceTime,
            ticket: ticket())
        let state = rows.load(device: device, user: user ?? AnonymousUser.id(on: device))
        let decision = engine.decide(request, state, messages: active(device), now: now, explain: explain)
        if comparesExplanations {
            let other = engine.decide(request, state, messages: active(device), now: now, explain: !explain)
            expectSame(decision, other)
        }
        apply(decision)
        return decision.answer
    }

    @discardableResult
    mutating func report(
        _ outcome: Report.Outcome, _ offer: OfferID, device: DeviceID = "phone", id: String? = nil,
        deviceTime: Instant? = nil
    ) throws -> Answer {
        let user = rows.offers[offer]?.user ?? "ann"
        let report = Report(
            id: id, offer: offer, device: device, outcome: outcome, deviceTime: deviceTime, ticket: ticket())
        let state = rows.load(device: device, user: user)
        let decision = try engine.report(report, state, messages: active(device), now: now)
        apply(decision)
        return decision.answer
    }

    @discardableResult
    mutating func place(_ request: SlotRequest, explain: Bool = false) -> SlotDecision {
        let state = rows.load(device: request.device, user: request.user ?? AnonymousUser.id(on: request.device))
        let decision = engine.place(
            request, state, messages: active(request.device), now: now, explain: explain)
        apply(decision.decision)
        return decision
    }

    mutating func advance(device: DeviceID = "phone") {
        let user = rows.devices[device]?.user ?? AnonymousUser.id(on: device)
        apply(engine.advance(rows.load(device: device, user: user), messages: active(device), now: now))
    }

    mutating func wait(_ span: Span) { now += span }

    private mutating func apply(_ decision: Decision) {
        rows.apply(decision.changes)
        records += decision.records
        let reloaded = rows.load(device: decision.state.device.id, user: decision.state.user.id)
        #expect((reloaded.device == decision.state.device) as Bool)
        #expect((reloaded.user.ledger == decision.state.user.ledger) as Bool)
        let device = decision.state.device.id
        #expect(
            reloaded.offers.filter { $0.value.device == device }
                == decision.state.offers.filter { $0.value.device == device })
        #expect(reloaded.offers.values.count { $0.device == device && $0.holdsScreen } <= 1)
    }

    func state(_ offer: OfferID) -> Offer.State? { rows.offers[offer]?.state }

    func kinds(_ message: MessageID) -> [Record.Kind] { records.filter { $0.offer?.message == message }.map(\.kind) }

    /// A message offered, shown and dismissed now.
    mutating func showAndDismiss(_ event: TriggerEvent, device: DeviceID = "phone", user: UserID? = "ann") throws {
        let offer = try #require(trigger(event, device: device, user: user).offer)
        try report(.shown, offer.id, device: device)
        try report(.dismissed(how: "user"), offer.id, device: device)
    }
}

/// An explanation changes no decision.
func expectSame(_ one: Decision, _ other: Decision) {
    #expect(one.changes == other.changes)
    #expect(one.records == other.records)
    #expect(one.answer.offer == other.answer.offer)
}

func message(
    _ id: MessageID, vendor: Vendor = "own", _ kind: Message.Kind = .modal, on triggers: [MessageTrigger] = [buy],
    _ change: (inout Message) -> Void = { _ in }
) throws -> Definition {
    var message = Message(id: id, vendor: vendor, kind: kind, triggers: triggers)
    change(&message)
    return try Definition(message)
}

let buy = MessageTrigger.event(name: "buy", filter: nil)
let bought = TriggerEvent.event(name: "buy", properties: nil)

func bought(_ properties: [String: PropertyValue]) -> TriggerEvent { .event(name: "buy", properties: properties) }

extension Answer {
    /// The first failed check of a candidate.
    func failure(_ message: MessageID) -> Check.Code? { check(message)?.code }

    func check(_ message: MessageID) -> Check? {
        candidates.first { $0.message == message }?.checks.first { !$0.ok }
    }

    func result(_ message: MessageID) -> Candidate.Result? { candidates.first { $0.message == message }?.result }
}

extension Filter {
    /// The outcome for an event that no other filter reads.
    func outcome(of properties: [String: PropertyValue]?, strict: Bool) -> Outcome {
        var reader = EventReader(.event(name: "", properties: properties))
        return outcome(of: &reader, strict: strict)
    }
}
