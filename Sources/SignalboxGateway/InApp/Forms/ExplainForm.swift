package import SignalboxInApp
import SignalboxJSON

/// A hypothetical trigger: the body of `POST /v1/inapp/explain`. The engine answers it by the same
/// function as a trigger, over other rows and with no commit.
/// `device` and `event` are required. The answer has every candidate with its checks.
package struct ExplainForm: Sendable {
    /// The device whose rows are read; it may be unknown.
    package let device: DeviceID
    /// Nil for an anonymous user.
    package let user: UserID?
    /// The trigger to decide about.
    package let event: TriggerEvent
    /// Nil for the state that the device reported last.
    package let client: ClientState?
    /// The time of the decision; nil for now. It may lie before the last decision about the device.
    package let at: Instant?
    /// Whether the decision is made as if the device and the user had no history and no offers.
    package let hasEmptyHistory: Bool
    /// Applied in this order.
    /// At most ``FormBounds/counters``.
    package internal(set) var counters: [Counter]

    /// Displays that the decision counts instead of the recorded ones.
    package struct Counter: Sendable, Hashable {
        /// The displays that are set.
        package enum Owner: Sendable, Hashable {
            case message(SignalboxInApp.MessageID), vendor(Vendor), limit(String)
            /// Displays of every vendor.
            case scope
        }

        package var owner: Owner
        /// The history in which they are set. `everyone`: the tally of a message.
        package var per: Limit.Subject
        package var count: Int
        /// The time of the last one; nil for the time of the decision.
        package var last: Instant?
    }

    /// Reads a question. Throws the first mistake.
    package static func read(_ bytes: [UInt8]) throws(FormFault) -> ExplainForm {
        try FormDocument.read(bytes, upTo: FormBounds.request) { (root) throws(FormFault) in
            let object = try FormObject(root, at: "", FormKeys.explanation)
            let counters = try object.list("counters", upTo: FormBounds.counters) {
                (value, pointer) throws(FormFault) in try Counter.read(value, at: pointer)
            }
            let form = ExplainForm(
                device: try object.required("device", object.text("device")), user: try object.optionalUser(),
                event: try TriggerEvent.read(of: object), client: try ClientState.read(of: object),
                at: try object.instant("at"),
                hasEmptyHistory: try object.choice("history", History.allCases) == .empty, counters: counters ?? [])
            do throws(InputFault) {
                try form.request(over: ClientState(), ticket: "").validate()
            } catch { throw FormFault(error) }
            return form
        }
    }

    /// The request for the engine. `state`: the device's rows. A device that has reported nothing yet is in the
    /// foreground, as for a trigger without `state`.
    package func request(over state: InAppState, ticket: String) -> TriggerRequest {
        request(over: state.device.lastSeen == 0 ? ClientState() : state.device.client, ticket: ticket)
    }

    /// The request for the engine. `client`: the state that the device reported last.
    package func request(over client: ClientState, ticket: String) -> TriggerRequest {
        TriggerRequest(device: device, user: user, event: event, client: self.client ?? client, ticket: ticket)
    }

    /// The words of `history`.
    private enum History: String, CaseIterable { case recorded, empty }
}

extension FormKeys {
    /// Members of a hypothetical trigger.
    package static let explanation: [StaticString] = ["device", "user", "event", "state", "at", "history", "counters"]
    /// Members of an element of `counters`; the first four exclude each other.
    package static let counter: [StaticString] = ["message", "vendor", "limit", "scope", "per", "count", "last"]
}

extension ExplainForm.Counter {
    /// Throws for a counter of several owners, and for one that counts anything but a message for everyone.
    fileprivate static func read(_ value: JSONValue, at pointer: String) throws(FormFault) -> Self {
        let object = try FormObject(value, at: pointer, FormKeys.counter)
        let owners = FormKeys.counter.prefix(4).filter { object[$0] != nil }
        guard owners.count == 1 else {
            throw FormFault(
                owners.isEmpty ? FormFault.Code.missing : InputFault.Code.contradictory.rawValue, pointer,
                "A counter is of exactly one of message, vendor, limit and scope; this one names \(owners.count).")
        }
        let per = try object.choice("per", [Limit.Subject.user, .device, .everyone]) ?? .user
        let owner = try owner(of: object)
        if per == .everyone {
            guard case .message = owner else {
                throw FormFault(.contradictory, object.pointer("per"), "Only a message is counted for everyone.")
            }
        }
        let count = try object.required("count", object.integer("count", in: 0...1_000_000_000))
        return Self(owner: owner, per: per, count: count, last: try object.instant("last"))
    }

    /// Exactly one of the members is present.
    private static func owner(of object: FormObject) throws(FormFault) -> Owner {
        if let message = try object.text("message") { return .message(message) }
        if let vendor = try object.text("vendor") { return .vendor(vendor) }
        if let limit = try object.text("limit") { return .limit(limit) }
        guard try object.flag("scope") == true else { throw .wrongType(object.pointer("scope"), "true") }
        return .scope
    }
}
