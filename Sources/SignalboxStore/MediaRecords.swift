package import Foundation
package import SignalboxNotification

/// The end of a download.
package struct MediaSettlement: Sendable, Equatable {
    /// The `MediaJob.id`.
    package let job: Int64
    /// The result to record.
    package let end: End

    /// The results of a download. Deliveries continue to wait after `retry`, and after `unchanged` without a file.
    package enum End: Sendable, Equatable {
        case stored(MediaFile, MediaFreshness, remarks: [MediaRemark])
        /// The server still has the stored file. If the store removed it meanwhile, the URL is downloaded again.
        case unchanged(MediaFreshness)
        /// The download failed, and the stored file stays valid for this time. Without a stored file: as `failed`.
        case keptStale(MediaFailure, for: Duration)
        /// The download failed permanently. An earlier file is no longer used.
        case failed(MediaFailure)
        /// The next download is due after this time.
        case retry(after: Duration, MediaFailure)
    }

    /// `job`: the `MediaJob.id`.
    package init(_ job: Int64, _ end: End) { (self.job, self.end) = (job, end) }
}

/// The release of a held delivery with its final body.
package struct MediaRelease: Sendable {
    /// The delivery to release.
    package let held: HeldDelivery
    /// The event with its media as they are now; nil to keep the body that the delivery has.
    package let body: [UInt8]?
    /// Digests of the files that the delivery points to.
    package let files: [String]

    /// `body`: nil keeps the stored body. `files`: digests that retention must keep for the delivery.
    package init(_ held: HeldDelivery, body: [UInt8]?, files: [String]) {
        (self.held, self.body, self.files) = (held, body, files)
    }
}

/// A stored file.
package struct MediaFileRecord: Sendable, Equatable {
    /// The next page begins after it.
    package let id: Int64
    /// The digest, size and type of the file.
    package let file: MediaFile
    /// URLs from which it was downloaded, at most five; none for a file that was made here.
    package let urls: [String]
    /// When the file was stored.
    package let keptAt: Date
    /// When an event last used it, to the hour.
    package let usedAt: Date
}

/// A stored URL.
package struct MediaURLRecord: Sendable, Equatable {
    /// The states of a URL's download. Raw values are stored.
    package enum State: String, Sendable, CaseIterable {
        /// Requested, now or after a pause.
        case wanted, resting
        case stored, failed
    }

    /// The store's number of the URL. The next page ends before it.
    package let id: Int64
    /// The URL as the payload spells it.
    package let url: String
    /// The state at the time of the read.
    package let state: State
    /// Failed downloads since it was requested.
    package let attempts: Int
    /// When the next download is due, for a requested URL.
    package let due: Date
    /// When an event first requested the download that is due, or that ended last.
    package let wantedAt: Date
    /// When it was last stored, found unchanged, or given up; nil before.
    package let checkedAt: Date?
    /// The reason why the last download failed.
    package let failure: MediaFailure?
    /// The digest of its file, perhaps of an earlier download.
    package let sha256: String?
}

/// Counts of downloads and files.
package struct MediaGauges: Sendable, Equatable {
    /// URLs that wait for their download, including those that rest after a failure.
    package var wanted = 0
    /// URLs with a current file.
    package var stored = 0
    /// URLs whose download failed permanently.
    package var failed = 0
    /// Files on record; several URLs may share one.
    package var files = 0
    /// The size of all files.
    package var bytes: Int64 = 0
    /// Deliveries that wait for files.
    package var held = 0

    /// The gauges of a store without downloads.
    package init() {}
}
