package import Foundation

/// The reason why a waiting delivery has not been sent. Pure.
package struct DeliveryWait: Sendable, Equatable {
    /// The reasons to wait. Raw values are those of the API.
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
        /// The delivery is scheduled for a later time.
        case scheduled
        /// Another delivery with the same order key goes first.
        case predecessor = "fifo-predecessor"
        /// An attempt failed, and the next one is not due yet.
        case retry
        case breakerOpen = "breaker-open"
        case retryAfter = "retry-after"
        /// The delivery is due, and the config limits the rate of its destination.
        case rateLimit = "rate-limit"
        /// The delivery is due, after other deliveries.
        case queued
    }

    /// The obstacle of a waiting delivery, in one word. Raw values are those of the API.
    package enum Block: String, Sendable, CaseIterable {
        /// The circuit breaker of the destination is open.
        case breaker
        /// The destination is paused, disabled or without permission.
        case paused
        /// The rate of the destination, or a pause that it asked for.
        case rate
        /// An earlier delivery with the same order key.
        case order
        /// Files of the event.
        case files
        /// A scheduled time.
        case embargo
    }

    /// Nil for a delivery that waits only for its turn or its next attempt.
    package var blockedBy: Block? {
        switch reason {
        case .breakerOpen: .breaker
        case .paused, .disabled, .noPermission: .paused
        case .rateLimit, .retryAfter: .rate
        case .predecessor: .order
        case .media: .files
        case .scheduled: .embargo
        case .inProgress, .unknownDestination, .retry, .queued: nil
        }
    }

    /// The first reason that applies.
    package let reason: Reason
    /// The latest time at which the reason ends or is checked again; nil when it is unknown.
    package let until: Date?
    /// An explanation for people, such as the reason of a pause or the last failure; nil when there is none.
    package let detail: String?

    private init(_ reason: Reason, until: Date? = nil, detail: String? = nil) {
        (self.reason, self.until, self.detail) = (reason, until, detail)
    }

    /// The first reason that applies; nil for a delivery that has ended. `status`: the status of its destination,
    /// unless that is active. `isKnown`: whether the config has the destination. `hasRate`: whether the config limits
    /// its rate.
    package init?(
        of delivery: DeliveryRecord, status: DestinationStatus?, isKnown: Bool, hasRate: Bool, at now: Date
    ) {
        guard delivery.state == .waiting else { return nil }
        let own = Self.own(delivery, at: now)
        // Only the process that has claimed it knows that it does not wait for its destination.
        if let own, own.reason == .inProgress, delivery.isClaimed || status == nil {
            self = own
        } else if !isKnown {
            self = DeliveryWait(.unknownDestination)
        } else if let status {
            let shared = DeliveryWait(status.wait, until: status.until, detail: status.reason)
            // A delivery that becomes due after the end of a backoff does not wait for the backoff.
            let later = delivery.isInProgress ? nil : own
            self = status.until == nil || status.isPause ? shared : later ?? shared
        } else {
            self = own ?? DeliveryWait(hasRate ? .rateLimit : .queued)
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
}
