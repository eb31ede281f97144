/// The label of an inline's place (Granify). Nil product and SKU of a message's trigger match any.
package struct SlotLabel: Sendable, Hashable {
    /// The name that the app and the vendor agreed on; unique per location on a parent view.
    package var name: String
    /// The product that the slot belongs to: required on a product page.
    package var productID: String?
    /// The variant of the product, if it has several. Needs a product.
    package var sku: String?

    /// A label as the app reports it, or the pattern of a slot trigger.
    package init(_ name: String, productID: String? = nil, sku: String? = nil) {
        (self.name, self.productID, self.sku) = (name, productID, sku)
    }

    /// Whether a trigger with this label fills a slot with the other label.
    func accepts(_ label: SlotLabel) -> Bool {
        name == label.name && (productID == nil || productID == label.productID) && (sku == nil || sku == label.sku)
    }
}

/// The labels that a page of a device shows now, all of them: a slot that is no longer listed collapses.
package struct SlotRequest: Sendable, Hashable {
    /// One place on the page.
    package struct Slot: Sendable, Hashable {
        /// The label as the page sent it.
        package var label: SlotLabel
        /// The view, if views are recycled: a later slot of the same view replaces an earlier one.
        package var view: String?
        /// Whether the client can display an inline there.
        package var canDisplay = true

        /// A slot; without a view it is never replaced within one request.
        package init(_ label: SlotLabel, view: String? = nil, canDisplay: Bool = true) {
            (self.label, self.view, self.canDisplay) = (label, view, canDisplay)
        }
    }

    /// Test mode: any message of that label, or one message, without targeting and without counts.
    package struct Override: Sendable, Hashable {
        /// A label of the page.
        package var label: SlotLabel
        /// The message to show; nil for any message of the label.
        package var message: MessageID?

        /// Without a message, any message of the label.
        package init(label: SlotLabel, message: MessageID? = nil) { (self.label, self.message) = (label, message) }
    }

    /// The device that shows the page.
    package var device: DeviceID
    /// The user of the device; nil if unknown.
    package var user: UserID?
    /// The app's name of the page. Offers of other pages stay, up to ``Bounds/slots`` of the device.
    package var page: String
    /// Whether each label needs a product.
    package var isProductPage: Bool
    /// At most ``Bounds/labelsPerPage``, in the order of the page.
    package var slots: [Slot]
    /// For one label; the other slots are filled as usual.
    package var override: Override?
    /// Becomes the state of the device, as with a trigger.
    package var client: ClientState
    /// Names the offers of this decision; unique, and not to be guessed.
    package var ticket: String

    package init(
        device: DeviceID, user: UserID?, page: String, isProductPage: Bool = false, slots: [Slot],
        override: Override? = nil, client: ClientState, ticket: String
    ) {
        (self.device, self.user, self.page, self.isProductPage) = (device, user, page, isProductPage)
        (self.slots, self.override, self.client, self.ticket) = (slots, override, client, ticket)
    }

    /// Throws the first value that is empty or beyond its bound.
    package func validate() throws(InputFault) {
        try InputFault.check(id: device, at: "/device")
        if let user { try InputFault.check(user: user, at: "/user") }
        try InputFault.check(page, at: "/page")
        try InputFault.check(count: slots.count, atMost: Bounds.labelsPerPage, at: "/slots")
        for (index, slot) in slots.enumerated() {
            try InputFault.check(slot.label.name, at: "/slots/\(index)/name")
            for text in [slot.label.productID, slot.label.sku, slot.view].compactMap({ $0 }) {
                try InputFault.check(text, at: "/slots/\(index)")
            }
        }
        try client.validate()
    }
}

/// The result for one slot, in the order of the request.
package struct SlotAnswer: Sendable, Hashable {
    /// Mistakes of a label. The raw values are stable codes.
    package enum Problem: String, Sendable, Hashable {
        /// Two slots of the page have equal labels: neither is filled.
        case duplicateLabel = "inline.duplicate-label"
        case productMissing = "inline.product-missing"
        case skuWithoutProduct = "inline.sku-without-product"
        case notDisplayable = "inline.not-displayable"
        /// A warning: the name is not among the declared ones.
        case unknownName = "inline.unknown-name"
        /// The override names a label that the page does not have.
        case unknownLabel = "inline.unknown-label"
    }

    /// As in the request.
    package let label: SlotLabel
    /// The inline to show and to report, new or leased before.
    package var offer: Offer?
    /// The slot stays empty.
    package var error: Problem?
    /// A problem of the label that does not keep it empty; nil for none.
    package var warning: Problem?
    /// Only with `explain`: the messages filed under the name, at most ``Bounds/explained``.
    package var candidates: [Candidate] = []
}

/// The result of a page: its slots, and the decision to commit.
package struct SlotDecision: Sendable, Hashable {
    /// One for each slot of the request that a later one of its view has not replaced.
    package var slots: [SlotAnswer]
    /// Of the override.
    package var error: SlotAnswer.Problem?
    /// The rows and records of all slots together.
    package var decision: Decision
}
