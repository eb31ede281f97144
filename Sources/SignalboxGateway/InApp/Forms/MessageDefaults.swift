import SignalboxInApp

/// The values of members that a message leaves out, by the rules of its vendor. Members that equal their default are
/// not written, so the bytes of a form do not depend on the time of its registration.
struct MessageDefaults {
    /// Nil if the vendor's messages must name their triggers.
    let triggers: [MessageTrigger]?
    /// Applies to a message that does not specify whether it may be shown again.
    let reEligibility: Message.ReEligibility
    /// Apply to a message without limits of its own.
    let limits: [Limit]
    /// Whether the engine picks the moment of display.
    let isSmart: Bool
    /// Milliseconds; nil for no timeout.
    let renderTimeout: Span?
    /// From the registration to the end of the schedule; nil for no end.
    let lifetime: Span?

    /// Vendors without a reader of their own have the rules of ``VendorRules/of(_:)`` for unknown vendors.
    init(_ vendor: Vendor) {
        // A vendor without rules: at once, and once.
        triggers = Self.known.contains(vendor) ? nil : [.immediate]
        reEligibility = VendorRules.of(vendor).reEligibility
        // MCEInAppMessage.h: one view, kept for a year.
        limits = vendor == "mce" ? [Limit(1, .lifetime, per: .device)] : []
        lifetime = vendor == "mce" ? 365 * 86_400_000 : nil
        // The SDK picks the moment of display by default.
        isSmart = vendor == "sourse"
        // SNRInAppMessagingSettings.h: rendered within 5 s.
        renderTimeout = vendor == "synerise" ? 5000 : nil
    }

    /// Vendors whose messages name their triggers.
    private static let known: Set<Vendor> = ["braze", "synerise", "mce", "granify", "sourse"]

    /// The end of a message that names none.
    func end(_ registeredAt: Instant) -> Instant? { lifetime.map { registeredAt + $0 } }
}
