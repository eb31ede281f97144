package import Foundation

/// Why a waiting delivery has not been sent. Pure.
package struct DeliveryWait: Sendable, Equatable {
    package enum Reason: String, Sendable, CaseIterable {
        /// The gateway's sender has it, or an attempt is in progress.
        case inProgress = "in-progress"
        /// The config has no destination with this name.
        case unknownDestination = "unknown-destination"
        case paused, disabled
        /// The destination has not given permission.
        case noPermission = "no-permission"
        /// Files of the event are being downloaded.
        case media
        /// It is scheduled for a time of its own.
        case scheduled
        /// Another delivery with the same order key goes first.
        case predecessor = "fifo-predecessor"
        /// It waits for its next attempt.
        case retry
        case breakerOpen = "breaker-open"
        case retryAfter = "retry-after"
        /// It is due, and the rate of its destination is limited.
        case rateLimit = "rate-limit"
        /// It is due, behind other deliveries.
        case queued
    }

    package let reason: Reason
    /// The latest time at which the reason ends or is checked again; nil when it is unknown.
    package let until: Date?
    package let detail: String?

    private init(_ reason: Reason, until: Date? = nil, detail: String? = nil) {
        self.reason = reason
        self.until = until
        self.detail = detail
    }

    /// The state of a delivery's destination.
    package struct Circumstances: Sendable {
        let status: DestinationStatus?
        let isKnown: Bool
        let hasRate: Bool

        /// `status`: the status that keeps all its deliveries waiting. `isKnown`: whether the config has it.
        /// `hasRate`: whether the config limits the rate of its deliveries.
        package init(status: DestinationStatus?, isKnown: Bool, hasRate: Bool) {
            self.status = status
            self.isKnown = isKnown
            self.hasRate = hasRate
        }
    }

    /// The first reason that applies; nil for a delivery that has ended.
    package init?(of delivery: DeliveryRecord, in circumstances: Circumstances, at now: Date) {
        guard delivery.state == .waiting else { return nil }
        let own = Self.own(delivery, at: now)
        if let own, own.reason == .inProgress {
            self = own
        } else if let shared = Self.shared(circumstances) {
            // A delivery that becomes due after the end of a backoff does not wait for the backoff.
            let isBackoff = circumstances.status.map { $0.until != nil } ?? false
            self = isBackoff ? own ?? shared : shared
        } else {
            self = own ?? DeliveryWait(circumstances.hasRate ? .rateLimit : .queued)
        }
    }

    /// The delivery's own reason to wait, regardless of other deliveries.
    private static func own(_ delivery: DeliveryRecord, at now: Date) -> DeliveryWait? {
        if delivery.isInProgress { return DeliveryWait(.inProgress) }
        if let until = delivery.mediaUntil { return DeliveryWait(.media, until: until) }
        if let until = delivery.notBefore, until > now, delivery.attempts == 0 {
            return DeliveryWait(.scheduled, until: until)
        }
        if let predecessor = delivery.predecessor {
            return DeliveryWait(.predecessor, detail: "delivery \(predecessor) goes first")
        }
        return delivery.due > now ? DeliveryWait(.retry, until: delivery.due, detail: delivery.reason) : nil
    }

    private static func shared(_ circumstances: Circumstances) -> DeliveryWait? {
        guard circumstances.isKnown else { return DeliveryWait(.unknownDestination) }
        guard let status = circumstances.status else { return nil }
        return DeliveryWait(status.wait, until: status.until, detail: status.reason)
    }
}
