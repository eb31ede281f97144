/// The total order of candidates, the same on every node and for every order of registration: test sends, blocking
/// messages, rank with the vendor's offset, due time, newest registration, id.
struct Rank: Comparable {
    /// Test sends come first, because their sender waits for them.
    let isTest: Bool
    /// Then mandatory messages (Synerise, mandatory upgrade).
    let isBlocking: Bool
    /// The message's rank of 0 to 1000 plus the policy's offset for its vendor; lower first.
    let rank: Int
    /// When the delay ends; earlier first.
    let due: Instant
    /// Newest first (Braze: the newest of one priority wins).
    let registeredAt: Instant
    /// Decides between equal ranks, so the order is total.
    let id: MessageID

    /// `due` is the end of the delay: the trigger's time plus the message's delay, or the due time of its offer.
    init(_ definition: Definition, due: Instant, _ policy: borrowing Policy) {
        isTest = definition.message.isTest
        isBlocking = definition.message.isBlocking
        rank = definition.message.rank + (policy.vendorOffsets[definition.message.vendor] ?? 0)
        self.due = due
        registeredAt = definition.message.registeredAt
        id = definition.message.id
    }

    /// The better one is less.
    static func < (left: Rank, right: Rank) -> Bool {
        if left.isTest != right.isTest { return left.isTest }
        if left.isBlocking != right.isBlocking { return left.isBlocking }
        if left.rank != right.rank { return left.rank < right.rank }
        if left.due != right.due { return left.due < right.due }
        if left.registeredAt != right.registeredAt { return left.registeredAt > right.registeredAt }
        return left.id < right.id
    }

    /// The check of a candidate that lost against `winner`, with the first key in which they differ.
    func lost(against winner: Rank) -> Check {
        let (expected, actual): (String, String) =
            if winner.isTest != isTest {
                ("a test send", "no test send")
            } else if winner.isBlocking != isBlocking {
                ("a blocking message", "not blocking")
            } else if winner.rank != rank {
                ("rank below \(winner.rank)", "rank \(rank)")
            } else if winner.due != due {
                ("due before \(winner.due)", "due \(due)")
            } else if winner.registeredAt != registeredAt {
                ("registered after \(winner.registeredAt)", "registered \(registeredAt)")
            } else {
                ("id before \(winner.id)", "id \(id)")
            }
        return Check(code: .priorityLost, ok: false, expected: expected, actual: actual, until: nil, source: winner.id)
    }
}
