import SignalboxConfig
package import SignalboxInApp
import SignalboxJSON

/// Times come from the lines, never from a clock, so a timeline has the same result on every machine.
extension Timeline {
    /// Reads a timeline: NDJSON, an object in each line, empty lines ignored. Every line is read before any decision,
    /// so a mistake leaves no partial result. `policy`: applies until the first line with another one.
    package init(_ bytes: [UInt8], policy: Policy = Policy()) throws(InvalidTimeline) {
        var reader = TimelineReader(policy: policy)
        guard bytes.count <= Bounds.bytes else {
            throw InvalidTimeline(
                faults: [TimelineFault(line: 0, pointer: "", detail: "The timeline has more than 16 MiB; shorten it.")],
                more: 0)
        }
        let lines = bytes.split(
            separator: UInt8(ascii: "\n"), maxSplits: Bounds.lines, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard index < Bounds.lines else {
                let detail = "A timeline can have at most \(Bounds.lines) lines."
                reader.add(TimelineFault(line: index + 1, pointer: "", detail: detail))
                break
            }
            guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { continue }
            reader.read(Array(line), number: index + 1)
        }
        if reader.lines.isEmpty && reader.faults.isEmpty {
            reader.add(
                TimelineFault(line: 0, pointer: "", detail: "The timeline is empty: write one object in each line."))
        }
        guard reader.faults.isEmpty else { throw InvalidTimeline(faults: reader.faults, more: reader.more) }
        self.init(lines: reader.lines, policy: policy)
    }
}

/// Reads lines one after another; a line may refer to earlier ones.
/// Collects up to ``Timeline/Bounds/faults`` mistakes, so that one run names most of them.
private struct TimelineReader {
    /// Lines without a mistake, in their order.
    private(set) var lines: [Timeline.Line] = []
    /// The first mistakes; a line has at most one.
    private(set) var faults: [TimelineFault] = []
    /// Mistakes beyond those that are listed.
    private(set) var more = 0
    /// Applies to the next lines, and to their messages.
    private var policy: Policy
    /// Names of earlier lines, which are unique.
    private var names: Set<String> = []
    /// The last revision of each message, and its form unless it was withdrawn.
    /// As in a store, a changed message grows the revision by one; an equal one does not, unless it was withdrawn in
    /// between.
    private var revisions: [SignalboxInApp.MessageID: (revision: Int, body: [UInt8]?)] = [:]

    /// A line has at most one of them; without any, it only lets time pass.
    private static let actions: [StaticString] = ["message", "withdraw", "trigger", "outcome", "slots", "policy"]
    /// The members of a line.
    private static let keys: [StaticString] = ["at", "as", "id", "offer"] + actions

    /// `policy`: applies until the first line that has one.
    init(policy: Policy) { self.policy = policy }

    /// Counts a mistake that is beyond the number of listed ones.
    mutating func add(_ fault: TimelineFault) {
        if faults.count < Timeline.Bounds.faults { faults.append(fault) } else { more += 1 }
    }

    /// Appends a line, or its first mistake. `number`: from 1, with empty lines.
    mutating func read(_ bytes: [UInt8], number: Int) {
        do throws(FormFault) {
            // A line is not much longer than the longest form in it.
            let read = try FormDocument.read(bytes, upTo: FormBounds.request * 2) {
                (value) throws(FormFault) -> Timeline.Line in
                try line(FormObject(value, at: "", Self.keys), number: number)
            }
            lines.append(read)
        } catch {
            add(TimelineFault(line: number, pointer: error.pointer, detail: error.detail))
        }
    }

    /// Throws for a line whose time is before that of the line above it.
    private mutating func line(_ object: FormObject, number: Int) throws(FormFault) -> Timeline.Line {
        let at = try object.required("at", object.instant("at"))
        if let last = lines.last, at < last.at {
            throw FormFault(
                .outOfRange, "/at",
                "This time is before that of line \(last.number): put the lines in the order of time.")
        }
        let found = Self.actions.filter { object[$0] != nil }
        guard found.count <= 1 else {
            throw FormFault(
                .contradictory, "/\(found[1])",
                "A line has one of \(found.map(\.description).joined(separator: ", ")): use a line for each.")
        }
        for (key, owner) in [("id", "message"), ("offer", "outcome")] as [(StaticString, String)]
        where object[key] != nil && found.first?.description != owner {
            throw FormFault(.contradictory, "/\(key)", "Only a line with \(owner) has this member; remove it.")
        }
        let name = try self.name(of: object, found.first?.description)
        guard let key = found.first, let value = object[key] else {
            return Timeline.Line(number: number, at: at, name: name, action: .none)
        }
        return Timeline.Line(
            number: number, at: at, name: name,
            action: try action(key, JSONText(value).bytes, object, at: at, number: number))
    }

    /// `body`: the value of the member `key`, which is the form of the endpoint with the same purpose. Registrations
    /// and policies apply to later lines.
    private mutating func action(
        _ key: StaticString, _ body: [UInt8], _ object: FormObject, at: Instant, number: Int
    ) throws(FormFault) -> Timeline.Action {
        // The offer's id is the ticket: equal timelines have equal ids.
        let ticket = "of_\(number)"
        switch key.description {
        case "message": return try message(body, try object.required("id", object.text("id")), at: at)
        case "withdraw":
            let id = try object.required("withdraw", object.text("withdraw"))
            revisions[id]?.body = nil
            return .withdraw(id)
        case "trigger":
            return .trigger(
                try inside("/trigger") { () throws(FormFault) in try TriggerForm.read(body, ticket: ticket).request })
        case "slots":
            return .slots(
                try inside("/slots") { () throws(FormFault) in try SlotForm.read(body, ticket: ticket).request })
        case "outcome":
            let offer = try reference(of: object)
            return .outcome(
                try inside("/outcome") { () throws(FormFault) in
                    try ReportForm.read(body, offer: offer.text, ticket: ticket)
                }, offer)
        default: return .policy(try readPolicy(body))
        }
    }

    /// A message that equals the registered one is not registered again, as in the gateway. Also throws for a message
    /// that the policy of this line does not permit.
    private mutating func message(_ body: [UInt8], _ id: SignalboxInApp.MessageID, at: Instant) throws(FormFault)
        -> Timeline.Action
    {
        try FormFault.check(messageID: id, at: "/id", "The id")
        let former = revisions[id]
        let revision = (former?.revision ?? 0) + 1
        let form = try inside("/message") { () throws(FormFault) in
            try MessageForm.read(body, id: id, revision: revision, registeredAt: at)
        }
        let canonical = form.write()
        if let former, former.body == canonical { return .unchanged(id) }
        let definition = try inside("/message") { () throws(FormFault) in try form.definition() }
        do throws(InputFault) {
            try policy.validate(form.message)
        } catch { throw FormFault(error, at: "/message") }
        revisions[id] = (revision, canonical)
        return .message(definition, form.address)
    }

    /// Puts the pointer of a member before those of its faults.
    /// The forms have pointers of their own, which begin at their root.
    private func inside<Value>(_ pointer: String, _ read: () throws(FormFault) -> Value) throws(FormFault) -> Value {
        do throws(FormFault) {
            return try read()
        } catch {
            throw FormFault(error.code, pointer + error.pointer, error.detail)
        }
    }

    // MARK: Names

    /// Nil for a line without a name. Throws for a name on a line that can give no offer.
    private mutating func name(of object: FormObject, _ action: String?) throws(FormFault) -> String? {
        guard let name = try object.text("as") else { return nil }
        guard ["trigger", "outcome", "slots"].contains(action), name != "last", !name.contains("/") else {
            throw FormFault(
                FormFault.Code.invalidValue, "/as",
                "A name is for the offers of a trigger, an outcome or slots, has no slash and is not \"last\".")
        }
        guard names.insert(name).inserted else {
            throw FormFault(
                FormFault.Code.invalidValue, "/as", "An earlier line has the name \"\(name)\": choose another.")
        }
        return name
    }

    /// `NAME` or `NAME/SLOT` of an earlier line; `last`, or no member, for the latest offer.
    private func reference(of object: FormObject) throws(FormFault) -> Timeline.OfferReference {
        guard let text = try object.text("offer", upTo: 2 * Bounds.nameLength), text != "last" else { return .last }
        let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
        guard let name = parts.first, names.contains(name) else {
            throw FormFault(
                FormFault.Code.invalidValue, "/offer",
                "No earlier line has the name \"\(text)\": add \"as\" to the line that asks for the offer, or use \"last\"."
            )
        }
        return .named(name, slot: parts.count > 1 ? parts[1] : nil)
    }

    // MARK: Policy

    /// Reads the section `inapp` of a config by the config's own reader. Throws its first mistake, with the pointer
    /// into this line.
    private mutating func readPolicy(_ body: [UInt8]) throws(FormFault) -> Policy {
        let config = Array("{\"inapp\":".utf8) + body + [UInt8(ascii: "}")]
        do throws(InvalidConfig) {
            policy = try ConfigReading([ConfigText(name: "policy", bytes: config)]).finish().inapp
            return policy
        } catch {
            guard let mistake = error.mistakes.first else { return policy }
            let pointer = "/policy" + mistake.pointer.dropFirst("/inapp".count)
            throw FormFault(FormFault.Code.invalidValue, pointer, mistake.message + ".")
        }
    }
}
