/// The share of each node in downloads and releases. All nodes compute the same owner from the live nodes, so that none
/// needs a lease. While nodes come and go, two may do the same work: a file is then downloaded twice, and the second
/// release of a delivery finds nothing.
enum MediaOwners {
    /// A common table expression with the live nodes that download. `$1`: this node, which counts as one of them.
    static let live = """
        owners AS MATERIALIZED (
            SELECT m.node FROM media_nodes m JOIN nodes n ON n.id = m.node WHERE n.is_live UNION SELECT $1::bigint
        )
        """

    /// Whether this node owns a host or an event: the one with the smallest hash (rendezvous hashing), so that few
    /// change their owner when a node comes or goes. `key`: an expression of the type text. Needs ``live`` in the same
    /// statement.
    static func isMine(_ key: String) -> String {
        "(SELECT o.node FROM owners o ORDER BY md5(o.node || ' ' || \(key)), o.node LIMIT 1) = $1"
    }
}

/// The state of the downloads of this process.
struct MediaTurn {
    /// The host of the download that was returned last; empty before the first one. Hosts take turns.
    var host = ""
    /// The incarnation that has joined the downloads; nil for none.
    var node: Int64?
    /// ``Poll/media`` of the last tick.
    var seen = "0"
}
