package import SignalboxInApp
import SignalboxJSON

/// A device's request for a decision: the body of `POST /v1/inapp/triggers`.
/// Members: `triggerId` (repeats of the request carry the same one), `device` (required), `user`, `event`
/// (required), `state`, `deviceTime` and `explain`.
package enum TriggerForm {
    /// Reads a request. `ticket` names its offers. Without `state`, the app is in the foreground. Throws the first
    /// mistake; every bound of ``TriggerRequest`` is checked. `explain`: whether the answer lists the candidates.
    package static func read(
        _ bytes: [UInt8], ticket: String
    ) throws(FormFault) -> (request: TriggerRequest, explain: Bool) {
        try FormDocument.read(bytes, upTo: FormBounds.request) { (root) throws(FormFault) in
            let object = try FormObject(root, at: "", FormKeys.triggerRequest)
            let request = TriggerRequest(
                id: try object.text("triggerId"), device: try object.required("device", object.text("device")),
                user: try object.optionalUser(), event: try TriggerEvent.read(of: object),
                client: try ClientState.read(of: object) ?? ClientState(),
                deviceTime: try object.instant("deviceTime"), ticket: ticket)
            let explain = try object.flag("explain") ?? false
            do throws(InputFault) {
                try request.validate()
            } catch { throw FormFault(error) }
            return (request, explain)
        }
    }
}

/// The members of a trigger and of its event.
extension FormKeys {
    /// Members of a trigger.
    package static let triggerRequest: [StaticString] = [
        "triggerId", "device", "user", "event", "state", "deviceTime", "explain",
    ]

    /// The members of an event, besides `type`.
    /// A member of another type is unknown, and so a fault.
    package static func event(_ type: TriggerEvent.Kind) -> [StaticString] {
        switch type {
        case .sessionStart, .test, .poll: []
        case .pushOpen: ["campaign"]
        case .event: ["name", "properties"]
        case .purchase: ["product", "properties"]
        case .messageClick: ["message", "button"]
        case .screen: ["name"]
        case .rule: ["keyword"]
        case .show: ["message"]
        }
    }
}

/// Users of requests.
extension FormObject {
    /// Nil for an anonymous user: `user` is absent or null.
    /// Throws for the reserved prefix of anonymous users.
    func optionalUser() throws(FormFault) -> UserID? {
        if let value = self["user"], value.isNull { return nil }
        return try userID("user")
    }
}

/// An event on the device, as the client reports it.
extension TriggerEvent {
    /// The required member `event`.
    /// Throws for a missing or unknown `type`, and for members of another type.
    static func read(of form: FormObject) throws(FormFault) -> TriggerEvent {
        let (value, pointer) = (try form.required("event", form["event"]), form.pointer("event"))
        let (type, object) = try FormObject.typed(value, at: pointer, TriggerEvent.Kind.allCases, FormKeys.event)
        switch type {
        case .sessionStart: return .sessionStart
        case .test: return .test
        case .poll: return .poll
        case .pushOpen: return .pushOpen(campaign: try object.text("campaign"))
        case .event:
            return .event(
                name: try object.required("name", object.text("name")), properties: try properties(of: object))
        case .purchase: return .purchase(product: try object.text("product"), properties: try properties(of: object))
        case .messageClick:
            return .messageClick(
                message: try object.required("message", object.text("message")), button: try object.text("button"))
        case .screen: return .screen(try object.required("name", object.text("name")))
        case .rule: return .rule(try object.required("keyword", object.text("keyword")))
        case .show: return .show(try object.required("message", object.text("message")))
        }
    }

    /// Nil for an absent member: filters then see no property. At most ``Bounds/properties``. A property that is null
    /// is absent: wrappers of SDKs send nulls.
    private static func properties(of object: FormObject) throws(FormFault) -> [String: PropertyValue]? {
        guard let value = object["properties"], !value.isNull else { return nil }
        let read = try FormObject.map(value, at: object.pointer("properties"), upTo: Bounds.properties) {
            (value, pointer) throws(FormFault) -> PropertyValue? in
            value.isNull ? nil : try PropertyValue.read(value, at: pointer)
        }
        return read.compactMapValues { $0 }
    }
}

// MARK: Writing

extension JSONWriter {
    /// An event as the form has it, for examples and for events about it. Without its properties if `isBrief`.
    /// Properties are sorted by name, so equal events have equal bytes.
    mutating func event(_ event: TriggerEvent, isBrief: Bool = false) {
        beginObject()
        member("type", event.kind.rawValue)
        switch event {
        case .sessionStart, .test, .poll: break
        case .pushOpen(let campaign): member("campaign", campaign)
        case .event(let name, _), .screen(let name): member("name", name)
        case .purchase(let product, _): member("product", product)
        case .messageClick(let message, let button):
            member("message", message)
            member("button", button)
        case .rule(let keyword): member("keyword", keyword)
        case .show(let message): member("message", message)
        }
        if !isBrief, let properties = event.properties {
            object("properties", of: properties) { $0.property($1) }
        }
        endObject()
    }
}
