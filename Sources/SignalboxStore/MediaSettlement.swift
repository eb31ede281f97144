package import Foundation
package import SignalboxNotification

/// How a download that the queue gave out ended.
package struct MediaSettlement: Sendable, Equatable {
    /// Its `MediaJob.id`.
    package let job: Int64
    package let end: End

    package enum End: Sendable, Equatable {
        case stored(MediaFile, MediaFreshness, remarks: [MediaRemark])
        /// What is kept is still what the server has. Where nothing is kept any more it is wanted once more, from scratch.
        case unchanged(MediaFreshness)
        /// It could not be asked for, and what is kept from before counts until then; as `failed` where nothing is kept.
        case keptStale(MediaFailure, until: Date)
        /// What is kept from before does not count any more.
        case failed(MediaFailure)
        /// To be tried again, not before then.
        case retry(at: Date, MediaFailure)
    }

    package init(_ job: Int64, _ end: End) {
        self.job = job
        self.end = end
    }
}

/// That a delivery waits no more, and what it carries.
package struct MediaRelease: Sendable {
    package let held: HeldDelivery
    /// The event with its media as they are now; nil for the body that the delivery carries anyway.
    package let body: [UInt8]?
    /// Digests of the files that the delivery points to.
    package let files: [String]

    package init(_ held: HeldDelivery, body: [UInt8]?, files: [String]) {
        self.held = held
        self.body = body
        self.files = files
    }
}
