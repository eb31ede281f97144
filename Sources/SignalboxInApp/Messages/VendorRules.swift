/// Rules that a vendor's SDK follows and the engine therefore applies. A vendor without an entry has no rules: its
/// messages are shown immediately and only once, under the rules of the policy.
package struct VendorRules: Sendable {
    /// Default of messages that do not say it.
    package var reEligibility: Message.ReEligibility = .never
    /// Whether the interval of the policy applies.
    package var keepsInterval = true
    /// Whether a message may be shown at the instant of its start.
    package var startIsInside = true
    /// Whether a message may be shown at the instant of its end.
    package var endIsInside = false
    /// Whether an event without properties fails every filter, "does not exist" included.
    package var hasStrictFilters = false
    /// Whether a purchase trigger without a product matches every purchase and ignores its filter.
    package var anyPurchaseIgnoresFilter = false
    /// The timeout of web clients that have no timeout of their own, after the delay.
    package var webTimeout: Span?
    /// Whether a new banner ends the one that is shown.
    package var replacesBanners = false
    /// Code of the check that fails before the schedule's start.
    package var startCode: Check.Code = .scheduleNotStarted
    /// Whether a message that is too early waits for its start instead of the next trigger.
    package var waitsForStart = false

    /// The rules of a vendor, or those of an unknown one.
    package static func of(_ vendor: Vendor) -> VendorRules { table[vendor] ?? VendorRules() }

    private static let table: [Vendor: VendorRules] = [
        "braze": braze, "synerise": synerise, "mce": mce, "granify": granify, "sourse": sourse,
    ]

    // Roku SDK, `BrazeSDK.brs`: start_time < now, end_time > now, filters without properties never match, a purchase
    // without product_id ignores its filters. Web SDK, `models/trigger.js`: without a timeout, delay + 30 s.
    private static let braze = rules {
        $0.startIsInside = false
        $0.hasStrictFilters = true
        $0.anyPurchaseIgnoresFilter = true
        $0.webTimeout = 30_000
    }

    // The documents leave repetition to the caps of each message.
    private static let synerise = rules { $0.reEligibility = .always }

    // `MCEInAppMessage.h`: out if now > expirationDate, or unless now > triggerDate; views are counted.
    // `MCEInAppManager.h`: no interval. `MCEInAppBannerTemplate.m`: the next banner replaces the one shown.
    private static let mce = rules {
        $0.reEligibility = .always
        $0.keepsInterval = false
        $0.startIsInside = false
        $0.endIsInside = true
        $0.replacesBanners = true
    }

    // Granify's document on inlines: slots have no interval.
    private static let granify = rules {
        $0.reEligibility = .always
        $0.keepsInterval = false
    }

    // Sourse's document: not before the embargo, not after the expiry; equal is allowed at both.
    private static let sourse = rules {
        $0.endIsInside = true
        $0.startCode = .embargo
        $0.waitsForStart = true
    }

    private static func rules(_ change: (inout VendorRules) -> Void) -> VendorRules {
        var rules = VendorRules()
        change(&rules)
        return rules
    }
}

extension VendorRules {
    /// The vendor's own priority as a rank of 0 to 1000, lower first; 500 for none and for vendors without a known
    /// scale (Synerise). Reference, section 7.1.
    package static func rank(of priority: Int?, vendor: Vendor) -> Int {
        guard let priority else { return 500 }
        let bounded = min(max(priority, -1000), 1000)
        let rank =
            switch vendor {
            // Higher first.
            case "braze", "clevertap": 500 - bounded
            // Lower first, in steps of one.
            case "airship": 10 * bounded
            // Lower first.
            case "iterable", "swrve", "leanplum", "firebase": bounded
            default: 500
            }
        return min(max(rank, 0), 1000)
    }

    /// Braze's dashboard buckets.
    package static func rank(ofBrazeBucket bucket: String) -> Int? { ["high": 250, "medium": 500, "low": 750][bucket] }
}

extension Definition {
    /// Whether the schedule has begun, by the vendor's rule.
    func hasStarted(at now: Instant) -> Bool {
        guard let start = message.schedule.start else { return true }
        return rules.startIsInside ? now >= start : now > start
    }

    /// Whether the schedule is over, by the vendor's rule. One that ends before it starts is over at any time (Sourse:
    /// an embargo after the expiry means never).
    func hasEnded(at now: Instant) -> Bool {
        guard let end = message.schedule.end else { return false }
        if let start = message.schedule.start, start > end { return true }
        return rules.endIsInside ? now > end : now >= end
    }
}
