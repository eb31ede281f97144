/// A store that several nodes share, as operators observe it.
package protocol FleetStore: AnyObject, Sendable {
    /// This node and the fleet, read now. Cheap. Throws when the database cannot be reached.
    func fleet() async throws(StoreError) -> FleetState
}

/// The nodes of a shared store at one time.
package struct FleetState: Sendable, Equatable {
    /// Live nodes.
    package var nodes: Int
    /// Different configs among the live nodes that deliver.
    package var configs: Int
    /// Rows of the queue that are removed and take space until a vacuum.
    package var deadRows: Int
    /// The age of the oldest transaction that keeps removed rows, in seconds, as far as the role may see it.
    package var oldestTransaction: Int
    /// Deliveries that this node holds.
    package var held: Int
    /// Seconds since this node sent the last heartbeat that the server confirmed; nil for none.
    package var leaseAge: Double?
    /// Leases of other nodes that this one freed, since its start.
    package var takenOver: Int
    /// Commits of this node whose outcome had to be found out, since its start.
    package var unknownCommits: Int

    package init(
        nodes: Int, configs: Int, deadRows: Int, oldestTransaction: Int, held: Int, leaseAge: Double?, takenOver: Int,
        unknownCommits: Int
    ) {
        (self.nodes, self.configs, self.deadRows, self.oldestTransaction) = (nodes, configs, deadRows, oldestTransaction)
        (self.held, self.leaseAge, self.takenOver, self.unknownCommits) = (held, leaseAge, takenOver, unknownCommits)
    }
}
