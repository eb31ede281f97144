import SignalboxInApp
import SignalboxJSON

// A message's trigger in JSON: `{"type": "event", "name": "cart_opened", "filter": [[…]]}`.

/// A trigger of a message: the event that the message waits for.
extension MessageTrigger {
    /// Reads an object with `type` and the members of that type, which ``FormKeys/trigger(_:)`` lists. Throws for
    /// members of another type, because the client would expect them to count. Vendors' words for the same event,
    /// such as `Open` and `sessionStart`, have one word here.
    static func read(_ value: JSONValue, at pointer: String) throws(FormFault) -> MessageTrigger {
        let (type, object) = try FormObject.typed(value, at: pointer, FormKeys.TriggerType.allCases, FormKeys.trigger)
        switch type {
        case .sessionStart: return .sessionStart
        case .immediate: return .immediate
        case .test: return .test
        case .pushOpen: return .pushOpen(campaign: try object.text("campaign"))
        case .event:
            return .event(name: try object.required("name", object.text("name")), filter: try filter(of: object))
        case .purchase: return .purchase(product: try object.text("product"), filter: try filter(of: object))
        case .messageClick:
            return .messageClick(
                message: try object.required("message", object.text("message")), button: try object.text("button"))
        case .screen: return .screen(try object.required("name", object.text("name")))
        case .rule: return .rule(try object.required("keyword", object.text("keyword")))
        case .slot: return .slot(try SlotLabel.read(object))
        }
    }

    /// Nil for an absent member: every event of that name matches.
    private static func filter(of object: FormObject) throws(FormFault) -> Filter? {
        guard let value = object["filter"] else { return nil }
        return try Filter.read(value, at: object.pointer("filter"))
    }
}

/// The place of an inline message on a page.
extension SlotLabel {
    /// From the members `name`, `productId` and `sku`.
    /// Throws for a label without a name. Whether a product is required depends on the page.
    static func read(_ object: FormObject) throws(FormFault) -> SlotLabel {
        SlotLabel(
            try object.required("name", object.text("name")), productID: try object.identifier("productId"),
            sku: try object.identifier("sku"))
    }
}

// MARK: Writing

extension JSONWriter {
    /// Text that ``MessageTrigger/read(_:at:)`` reads as an equal trigger. The order of members is fixed.
    mutating func trigger(_ trigger: MessageTrigger) {
        beginObject()
        switch trigger {
        case .sessionStart: type(.sessionStart)
        case .immediate: type(.immediate)
        case .test: type(.test)
        case .pushOpen(let campaign):
            type(.pushOpen)
            member("campaign", campaign)
        case .event(let name, let filter):
            type(.event)
            member("name", name)
            member(filter: filter)
        case .purchase(let product, let filter):
            type(.purchase)
            member("product", product)
            member(filter: filter)
        case .messageClick(let message, let button):
            type(.messageClick)
            member("message", message)
            member("button", button)
        case .screen(let name):
            type(.screen)
            member("name", name)
        case .rule(let keyword):
            type(.rule)
            member("keyword", keyword)
        case .slot(let label):
            type(.slot)
            members(of: label)
        }
        endObject()
    }

    /// Members of the open object; a product or a SKU only if the label has one.
    mutating func members(of label: SlotLabel) {
        member("name", label.name)
        member("productId", label.productID)
        member("sku", label.sku)
    }

    /// The member `type`, which comes first.
    private mutating func type(_ type: FormKeys.TriggerType) { member("type", type.rawValue) }

    /// No member for nil.
    private mutating func member(filter: Filter?) {
        guard let filter else { return }
        key("filter")
        self.filter(filter)
    }
}
