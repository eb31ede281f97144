package import Foundation
package import SignalboxNotification

/// A file as the queue keeps it.
package struct MediaFileRecord: Sendable, Equatable {
    /// By which the next page begins.
    package let id: Int64
    package let file: MediaFile
    /// Where it was downloaded from, at most five of them; none of a file that was made here.
    package let urls: [String]
    package let keptAt: Date
    /// By an event, to the hour.
    package let usedAt: Date

    package init(id: Int64, file: MediaFile, urls: [String], keptAt: Date, usedAt: Date) {
        self.id = id
        self.file = file
        self.urls = urls
        self.keptAt = keptAt
        self.usedAt = usedAt
    }
}

/// A URL as the queue keeps it.
package struct MediaURLRecord: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// To be downloaded, now or at the next attempt.
        case wanted, resting
        case stored, failed
    }

    package let id: Int64
    package let url: String
    package let state: State
    /// Failed ones since it was wanted.
    package let attempts: Int
    /// Of the next attempt, for one that is wanted.
    package let due: Date
    package let wantedAt: Date
    /// When it was last stored, found unchanged, or given up; nil before.
    package let checkedAt: Date?
    /// Why the last attempt failed.
    package let failure: MediaFailure?
    /// Digest of the file that is kept of it, perhaps from before.
    package let sha256: String?
    /// What is odd about that file.
    package let remarks: [MediaRemark]

    package init(
        id: Int64, url: String, state: State, attempts: Int, due: Date, wantedAt: Date, checkedAt: Date?,
        failure: MediaFailure?, sha256: String?, remarks: [MediaRemark]
    ) {
        self.id = id
        self.url = url
        self.state = state
        self.attempts = attempts
        self.due = due
        self.wantedAt = wantedAt
        self.checkedAt = checkedAt
        self.failure = failure
        self.sha256 = sha256
        self.remarks = remarks
    }
}

/// What is watched of downloads and files.
package struct MediaGauges: Sendable, Equatable {
    /// URLs that wait for their download, those between two attempts included.
    package var wanted = 0
    package var stored = 0
    package var failed = 0
    package var files = 0
    /// Of all files.
    package var bytes: Int64 = 0
    /// Deliveries that wait for files.
    package var held = 0

    package init() {}
}
