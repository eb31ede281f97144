import DequeModule
package import SignalboxNotification

extension HandOff {
    /// The deliveries to these destinations that are in memory, and whether a lane has claimed them.
    package func claims(of destinations: some Sequence<DestinationName>) -> [Int64: Bool] {
        var claims: [Int64: Bool] = [:]
        for destination in destinations {
            guard let lane = lanes[destination] else { continue }
            for delivery in lane.held.keys { claims[delivery] = true }
            for lease in lane.fresh { claims[lease.delivery] = false }
        }
        return claims
    }
}

extension Lanes {
    /// Adds to stored deliveries whether this process has claimed them. Those that only wait in its memory are not in
    /// progress, although the store has recorded the begin of their attempts. `isOwner`: no other process makes
    /// attempts, so those that a crash interrupted are not in progress either.
    package func withClaims(_ records: [DeliveryRecord], isOwner: Bool = false) -> [DeliveryRecord] {
        let destinations = Set(records.filter(\.isInProgress).map(\.destination))
        guard !destinations.isEmpty else { return records }
        let claims = withHandOff { $0.claims(of: destinations) }
        return records.map { record in
            guard record.isInProgress, let isClaimed = claims[record.id] ?? (isOwner ? false : nil) else {
                return record
            }
            var record = record
            (record.isInProgress, record.isClaimed) = (isClaimed, isClaimed)
            return record
        }
    }
}
