import SignalboxNotification
import SignalboxStore

/// The events of one request, and the request itself if it has an idempotency key.
struct AppendWrite: Sendable {
    /// In the order in which they are stored. May be empty if there is a request.
    let events: [RoutedEvent]
    /// Nil for a request that its sender does not repeat.
    let request: IdempotentRequest?
}

/// The commit groups of appends: two, each with a connection, so that one fills while the other one commits. At low
/// load all events use the first connection, because a commit costs about the same for one event or many. A class
/// because they are shared state.
final class AppendCommits: Sendable {
    /// One connection, and the number of its events that have not been stored.
    private struct Group: Sendable {
        /// The result of an append is nil if another node is accepting an equal request.
        let commits: CommitGroup<AppendWrite, AppendResult?>
        let pending = Counter()
    }

    /// The most appends in one commit.
    private static let limit = 256
    /// Events of the first group from which the second one is used.
    private static let crowd = 128

    private let groups: [Group]
    /// Appends that wait until another node has finished an equal request.
    private let postponed = Counter()
    private let patience: Duration

    /// `patience`: how long an append waits. `now`: the time by which commits are measured.
    init(
        _ reference: StoreReference, patience: Duration = StoreLimits.patience,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.patience = patience
        groups = [WriterLane.appends, .secondAppends].map { lane in
            Group(
                commits: CommitGroup(
                    limit: Self.limit, heaviest: StoreLimits.deliveriesOfCommit, patience: StoreLimits.patience,
                    now: now
                ) { (writes) throws(CommitFailure) in
                    try reference.store().append(writes, on: lane)
                })
        }
    }

    /// How long the longest commit in progress has been running; nil for none.
    var commitTime: Duration? { groups.compactMap(\.commits.commitTime).max() }

    /// Receives the result of an append once.
    typealias Done = @Sendable (Result<AppendResult, StoreError>) -> Void

    /// Calls `done` once, after the commit. Does not block.
    func submit(_ write: AppendWrite, _ done: @escaping Done) {
        submit(write, until: .now + patience, after: nil, done)
    }

    /// `pause`: the pause before this submission; nil for the first one. Each submission has a deadline of its
    /// own in its group; `end` bounds further submissions.
    private func submit(
        _ write: AppendWrite, until end: ContinuousClock.Instant, after pause: Duration?, _ done: @escaping Done
    ) {
        let group = group(for: write)
        let (events, deliveries) = (write.events.count, write.events.deliveryCount)
        group.pending.add(events)
        group.commits.submit(write, weight: deliveries, hasDeadline: true) { [weak self, postponed] result in
            group.pending.add(-events)
            switch result {
            case .success(let result?): done(.success(result))
            case .failure(let error): done(.failure(error))
            case .success(nil):
                let next = pause.map { min($0 * 2, Self.longestPause) } ?? Self.shortestPause
                self?.postpone(write, until: end, next, done) ?? done(.failure(Self.busy))
            }
            if pause != nil { postponed.add(-1) }
        }
    }

    /// Tries an append again whose request another node is accepting. Not in its group, which others wait for.
    private func postpone(
        _ write: AppendWrite, until end: ContinuousClock.Instant, _ pause: Duration, _ done: @escaping Done
    ) {
        guard ContinuousClock.now < end else { return done(.failure(Self.busy)) }
        postponed.add()
        DelayedCall.onQueue(after: pause) { [weak self] in
            self?.submit(write, until: end, after: pause, done) ?? done(.failure(Self.busy))
        }
    }

    /// The first pause before an append is submitted again; each further one is twice as long.
    private static let shortestPause: Duration = .milliseconds(2)
    /// The bound of the pauses.
    private static let longestPause: Duration = .milliseconds(250)

    private static let busy = StoreError.unavailable(reason: "another gateway is still accepting an equal request")

    /// Returns after all appends that were submitted before.
    func finish() async {
        await finishGroups()
        while postponed.value > 0, (try? await Task.sleep(for: .milliseconds(10))) != nil { await finishGroups() }
    }

    /// Submits an empty append to each group, and waits for both at once.
    private func finishGroups() async {
        await withTaskGroup { tasks in
            for group in groups {
                // Writes of a group end in their order, even when this one fails.
                tasks.addTask { _ = try? await group.commits.write(AppendWrite(events: [], request: nil)) }
            }
        }
    }

    /// The group with fewer events, if there are many. Events whose order matters share one, so that they are stored in
    /// the order in which they were submitted.
    private func group(for write: AppendWrite) -> Group {
        let isOrdered = write.events.contains { event in
            !event.messages.isEmpty || event.deliveries.contains { $0.orderKey != nil }
        }
        let pending = groups[0].pending.value
        return isOrdered || pending < Self.crowd || pending <= groups[1].pending.value ? groups[0] : groups[1]
    }
}
