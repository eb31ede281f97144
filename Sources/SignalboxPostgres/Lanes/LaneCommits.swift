import SignalboxStore

/// The commit groups of the lanes.
struct LaneCommits: Sendable {
    let settlements: CommitGroup<LeaseWrite, SettlementResult>
    let claims: CommitGroup<ClaimOrder, Claimed>

    init(_ reference: StoreReference) {
        settlements = CommitGroup(limit: 512, patience: StoreLimits.patience) { (writes) throws(CommitFailure) in
            try reference.store().perform(writes)
        }
        claims = CommitGroup(limit: 64, patience: StoreLimits.patience) { (orders) throws(CommitFailure) in
            try reference.store().perform(orders)
        }
    }
}
