/// What is kept for how long.
package struct Retention: Sendable, Equatable {
    /// Events all of whose deliveries have ended.
    package var ended: Duration
    /// Events with a dead delivery.
    package var dead: Duration
    /// Of the file; the oldest events that have ended leave first, and requests that are as old with them.
    package var bytes: Int64
    package var categories: CategoryRetention

    package init(
        ended: Duration, dead: Duration, bytes: Int64, categories: CategoryRetention = CategoryRetention()
    ) {
        self.ended = ended
        self.dead = dead
        self.bytes = bytes
        self.categories = categories
    }
}

/// What is kept of categories.
package struct CategoryRetention: Sendable, Equatable {
    /// Since it was last seen, give or take two hours.
    package var age: Duration
    /// Those seen last stay.
    package var count: Int

    package init(age: Duration = .seconds(90 * 86_400), count: Int = 1000) {
        self.age = age
        self.count = count
    }
}

/// What is kept of downloads and files.
package struct MediaRetention: Sendable, Equatable {
    /// Files that no event used for so long, give or take an hour, leave; and URLs that were not asked for so long.
    package var unused: Duration
    /// Of all files; those whose last use is longest ago leave first.
    package var bytes: Int64
    /// For how long it is known why a URL failed.
    package var failures: Duration

    package init(unused: Duration, bytes: Int64, failures: Duration = .seconds(86_400)) {
        self.unused = unused
        self.bytes = bytes
        self.failures = failures
    }
}
