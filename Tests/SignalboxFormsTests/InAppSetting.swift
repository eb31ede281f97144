import Foundation
import SignalboxGateway
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification
import SignalboxTesting
import Testing

/// An engine over one device's rows in memory, driven through the forms.
struct InAppSetting {
    var engine: InAppEngine
    var forms: [String: MessageForm] = [:]
    var index = MessageIndex()
    var state = InAppState(user: UserState(id: "u-9"), device: DeviceState(id: "d-1"))
    var records: [Record] = []

    /// Messages by id, as JSON.
    init(_ messages: KeyValuePairs<String, String>, policy: Policy = Policy()) throws {
        engine = InAppEngine(policy: policy)
        for (id, body) in messages {
            let form = try MessageForm.read(Array(body.utf8), id: id, revision: 1, registeredAt: noon)
            forms[id] = form
            index.register(try form.definition())
        }
    }

    var messages: ActiveMessages { ActiveMessages(index) }

    /// The answer to the body of a trigger.
    mutating func trigger(_ body: String, ticket: String = "of_1", at now: Instant = noon) throws -> String {
        let (request, explain) = try TriggerForm.read(Array(body.utf8), ticket: ticket)
        let decision = engine.decide(request, state, messages: messages, now: now, explain: explain)
        accept(decision)
        return text(AnswerForm.write(decision.answer, explain: explain) { forms[$0] })
    }

    mutating func report(_ body: String, of offer: String, ticket: String = "of_next", at now: Instant = noon) throws
        -> String
    {
        let form = try ReportForm.read(Array(body.utf8), offer: offer, ticket: ticket)
        let decision = try engine.report(form.report(on: "d-1"), state, messages: messages, now: now)
        accept(decision)
        return text(AnswerForm.write(report: decision.answer, about: state.offers[offer]) { forms[$0] })
    }

    mutating func place(_ body: String, at now: Instant = noon) throws -> String {
        let (request, explain) = try SlotForm.read(Array(body.utf8), ticket: "of_s")
        let placed = engine.place(request, state, messages: messages, now: now, explain: explain)
        accept(placed.decision)
        return text(AnswerForm.write(placed, explain: explain) { forms[$0] })
    }

    func explain(_ body: String, at now: Instant = noon) throws -> String {
        let form = try ExplainForm.read(Array(body.utf8)).resolved(by: engine.policy)
        let (rows, now) = form.rows(over: state, now: now) { index[$0]?.message.vendor }
        let decision = engine.decide(
            form.request(over: state, ticket: "what-if"), rows, messages: messages, now: now,
            explain: true)
        return text(AnswerForm.write(explanation: decision) { forms[$0] })
    }

    /// The event of each record since the last call, checked by the validator of events.
    mutating func events() -> [String] {
        defer { records = [] }
        let origin = InAppEvent.Origin(gateway: "demo", source: SourceName("app"), device: "d-1", user: "u-9")
        return records.enumerated().map { index, record in
            let event = InAppEvent.event(
                record, from: origin,
                id: InAppEvent.id(index, at: Date(timeIntervalSince1970: 1_795_348_800), random: (1, 2)),
                acceptedAt: Date(timeIntervalSince1970: 1_795_348_800))
            EventRecorder.record(event.body)
            return text(event.body)
        }
    }

    private mutating func accept(_ decision: Decision) {
        state = decision.state
        records += decision.records
    }
}

/// The lines in which two JSON texts differ.
func differences(_ expected: String, _ actual: String) throws -> [String] {
    try JSONDifference.lines(expected: Array(expected.utf8), actual: Array(actual.utf8))
}

/// A value of a JSON text, as text.
func value(_ pointer: String, of json: String) throws -> String? {
    let pointer = try #require(JSONPointer(pointer))
    let parser = JSONParser()
    return try withExtendedLifetime(parser) {
        pointer.value(in: try parser.parse(Array(json.utf8))).map { JSONText($0).string }
    }
}
