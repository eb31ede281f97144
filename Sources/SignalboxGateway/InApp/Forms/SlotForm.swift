package import SignalboxInApp
import SignalboxJSON

/// The labels that a page shows: the body of `POST /v1/inapp/slots`.
/// Members: `device`, `page` and `slots` are required; `user`, `productPage`, `override`, `state` and `explain` are
/// not. A page is one turn: its slots are filled together. A message may fill several slots if its re-eligibility
/// permits it.
package enum SlotForm {
    /// Reads a request. `ticket` names its offers. Throws the first mistake; every bound of ``SlotRequest`` is
    /// checked. Mistakes of labels, such as a missing product, are part of the engine's answer instead. `explain`:
    /// whether the answer lists the candidates of each slot.
    package static func read(
        _ bytes: [UInt8], ticket: String
    ) throws(FormFault) -> (request: SlotRequest, explain: Bool) {
        try FormDocument.read(bytes, upTo: FormBounds.request) { (root) throws(FormFault) in
            let object = try FormObject(root, at: "", FormKeys.slotRequest)
            let slots = try object.list("slots", upTo: Bounds.labelsPerPage) { (value, pointer) throws(FormFault) in
                try slot(value, at: pointer)
            }
            let request = SlotRequest(
                device: try object.required("device", object.text("device")), user: try object.optionalUser(),
                page: try object.required("page", object.text("page")),
                isProductPage: try object.flag("productPage") ?? false,
                slots: try object.required("slots", slots), override: try override(of: object),
                client: try ClientState.read(of: object) ?? ClientState(), ticket: ticket)
            let explain = try object.flag("explain") ?? false
            do throws(InputFault) {
                try request.validate()
            } catch { throw FormFault(error) }
            return (request, explain)
        }
    }

    /// `view` names the element that would show the message; `canDisplay` is true by default.
    private static func slot(_ value: JSONValue, at pointer: String) throws(FormFault) -> SlotRequest.Slot {
        let object = try FormObject(value, at: pointer, FormKeys.slot)
        return SlotRequest.Slot(
            try SlotLabel.read(object), view: try object.text("view"),
            canDisplay: try object.flag("canDisplay") ?? true)
    }

    /// Fills one label with a message of the client's choice, or with any message of the label, for previews. Such a
    /// display counts in no limit.
    private static func override(of form: FormObject) throws(FormFault) -> SlotRequest.Override? {
        guard let object = try form.object("override", FormKeys.slotOverride) else { return nil }
        return SlotRequest.Override(label: try SlotLabel.read(object), message: try object.text("message"))
    }
}

/// The members of a page.
extension FormKeys {
    /// Members of a request for a page's slots.
    package static let slotRequest: [StaticString] = [
        "device", "user", "page", "productPage", "slots", "override", "state", "explain",
    ]
    /// Members of an element of `slots`.
    package static let slot: [StaticString] = ["name", "productId", "sku", "view", "canDisplay"]
    /// Members of `override`.
    /// Without `message`, any message of the label.
    package static let slotOverride: [StaticString] = ["name", "productId", "sku", "message"]
}
