/// Decides which parts of a group to commit after a commit has failed. A part that fails is halved until each write
/// that cannot be committed is alone. Pure.
struct CommitParts {
    /// Halvings in one group. Nine isolate one bad write among 512; a group of bad writes costs at most 65 commits.
    static let mostSplits = 32

    /// Parts still to be committed, in reverse order.
    private var parts: [Range<Int>]
    private var splits = mostSplits

    /// `count`: writes in the group.
    init(count: Int) { parts = [0..<count] }

    /// The next part to commit. Parts come in the order of their writes.
    mutating func next() -> Range<Int>? { parts.popLast() }

    /// Plans both halves of a failed part. False when it is not divided and has failed permanently.
    mutating func split(_ part: Range<Int>) -> Bool {
        guard part.count > 1, splits > 0 else { return false }
        splits -= 1
        let middle = part.lowerBound + part.count / 2
        parts.append(middle..<part.upperBound)
        parts.append(part.lowerBound..<middle)
        return true
    }
}
