import SignalboxStore

/// The commit groups of the lanes.
struct LaneCommits: Sendable {
    /// Up to 512 writes in a transaction of the lane `settlements`.
    let settlements: CommitGroup<LeaseWrite, SettlementResult>
    /// Up to 64 destinations in a transaction of the lane `claims`, which begins as soon as the connection is free.
    let claims: CommitGroup<ClaimOrder, Claimed>

    /// Groups of settlements fill for a while: only the next attempt in the same place waits for a settlement, and the
    /// cost of a commit hardly depends on the number of writes.
    init(_ reference: StoreReference) {
        settlements = CommitGroup(limit: 512, patience: StoreLimits.patience, rest: .milliseconds(4)) {
            (writes) throws(CommitFailure) in
            try reference.store().perform(writes)
        }
        claims = CommitGroup(limit: 64, patience: StoreLimits.patience) { (orders) throws(CommitFailure) in
            try reference.store().perform(orders)
        }
    }
}
