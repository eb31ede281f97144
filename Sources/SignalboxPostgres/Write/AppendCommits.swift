import SignalboxNotification
import SignalboxStore

/// The events of one request, and the request itself if it has an idempotency key.
struct AppendWrite: Sendable {
    let events: [RoutedEvent]
    let request: IdempotentRequest?
}

/// The commit groups of appends: two, each with a connection, so that one fills while the other one commits. A class
/// because they are shared state.
final class AppendCommits: Sendable {
    /// One connection, and the number of its appends that have not ended.
    private struct Group: Sendable {
        let commits: CommitGroup<AppendWrite, AppendResult>
        let pending = Counter()
    }

    /// The most appends in one commit.
    private static let limit = 256

    private let groups: [Group]

    init(_ reference: StoreReference) {
        groups = [WriterLane.appends, .secondAppends].map { lane in
            Group(
                commits: CommitGroup(limit: Self.limit, patience: StoreLimits.patience) {
                    (writes) throws(CommitFailure) in
                    try reference.store().append(writes, on: lane)
                })
        }
    }

    /// Calls `done` once, after the commit. Does not block.
    func submit(_ write: AppendWrite, _ done: @escaping @Sendable (Result<AppendResult, StoreError>) -> Void) {
        let group = group(for: write)
        group.pending.add()
        group.commits.submit(write, hasDeadline: true) { result in
            group.pending.add(-1)
            done(result)
        }
    }

    /// Returns after all appends that were submitted before.
    func finish() async {
        await withTaskGroup { tasks in
            for group in groups {
                // Writes of a group end in their order, also when this one fails.
                tasks.addTask { _ = try? await group.commits.write(AppendWrite(events: [], request: nil)) }
            }
        }
    }

    /// The group with fewer appends. Events whose order matters share one, so that they are stored in the order in
    /// which they were submitted.
    private func group(for write: AppendWrite) -> Group {
        let isOrdered = write.events.contains { event in
            !event.messages.isEmpty || event.deliveries.contains { $0.orderKey != nil }
        }
        return isOrdered || groups[0].pending.value <= groups[1].pending.value ? groups[0] : groups[1]
    }
}
