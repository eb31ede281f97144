package import Foundation
package import SignalboxNotification

/// The end of a download.
package struct MediaSettlement: Sendable, Equatable {
    /// The `MediaJob.id`.
    package let job: Int64
    package let end: End

    package enum End: Sendable, Equatable {
        case stored(MediaFile, MediaFreshness, remarks: [MediaRemark])
        /// The stored file is still what the server has. If it was removed meanwhile, it is downloaded from scratch.
        case unchanged(MediaFreshness)
        /// The server did not answer, and a file from before counts for this time; as `failed` when there is none.
        case keptStale(MediaFailure, for: Duration)
        /// A file from before no longer counts.
        case failed(MediaFailure)
        /// The next download is due after this time.
        case retry(after: Duration, MediaFailure)
    }

    package init(_ job: Int64, _ end: End) { (self.job, self.end) = (job, end) }
}

/// The release of a held delivery with its final body.
package struct MediaRelease: Sendable {
    package let held: HeldDelivery
    /// The event with its media as they are now; nil to keep the body that the delivery has.
    package let body: [UInt8]?
    /// Digests of the files that the delivery points to.
    package let files: [String]

    package init(_ held: HeldDelivery, body: [UInt8]?, files: [String]) {
        (self.held, self.body, self.files) = (held, body, files)
    }
}

/// A stored file.
package struct MediaFileRecord: Sendable, Equatable {
    /// The next page begins after it.
    package let id: Int64
    package let file: MediaFile
    /// URLs from which it was downloaded, at most five; none for a file that was made here.
    package let urls: [String]
    package let keptAt: Date
    /// When an event last used it, to the hour.
    package let usedAt: Date

    package init(id: Int64, file: MediaFile, urls: [String], keptAt: Date, usedAt: Date) {
        (self.id, self.file, self.urls, self.keptAt, self.usedAt) = (id, file, urls, keptAt, usedAt)
    }
}

/// A stored URL.
package struct MediaURLRecord: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// Requested, now or after a pause.
        case wanted, resting
        case stored, failed
    }

    package let id: Int64
    package let url: String
    package let state: State
    /// Failed downloads since it was requested.
    package let attempts: Int
    /// When the next download is due, for a requested URL.
    package let due: Date
    package let wantedAt: Date
    /// When it was last stored, found unchanged, or given up; nil before.
    package let checkedAt: Date?
    /// The reason why the last download failed.
    package let failure: MediaFailure?
    /// The digest of its file, perhaps of an earlier download.
    package let sha256: String?
    /// Oddities of that file.
    package let remarks: [MediaRemark]

    package init(
        id: Int64, url: String, state: State, attempts: Int, due: Date, wantedAt: Date, checkedAt: Date?,
        failure: MediaFailure?, sha256: String?, remarks: [MediaRemark]
    ) {
        (self.id, self.url, self.state, self.attempts, self.due) = (id, url, state, attempts, due)
        (self.wantedAt, self.checkedAt, self.failure) = (wantedAt, checkedAt, failure)
        (self.sha256, self.remarks) = (sha256, remarks)
    }
}

/// Counts of downloads and files.
package struct MediaGauges: Sendable, Equatable {
    /// URLs that wait for their download, including those that rest after a failure.
    package var wanted = 0
    package var stored = 0
    package var failed = 0
    package var files = 0
    /// The size of all files.
    package var bytes: Int64 = 0
    /// Deliveries that wait for files.
    package var held = 0

    package init() {}
}
