/// Decides which parts of a group to commit after a commit has failed. A part that fails is halved until each write
/// that cannot be committed is alone. Pure.
@usableFromInline struct CommitParts {
    /// Halvings in one group. Nine isolate one bad write among 512; a group of bad writes costs at most 65 commits.
    @usableFromInline static let mostSplits = 32

    /// Parts still to be committed, in reverse order.
    @usableFromInline var parts: [Range<Int>]
    @usableFromInline var splits = mostSplits

    /// `count`: writes in the group.
    @inlinable init(count: Int) { parts = [0..<count] }

    /// The next part to commit. Parts come in the order of their writes.
    @inlinable mutating func next() -> Range<Int>? { parts.popLast() }

    /// Plans both halves of a failed part. False when it is not divided and has failed permanently.
    @usableFromInline mutating func split(_ part: Range<Int>) -> Bool {
        guard part.count > 1, splits > 0 else { return false }
        splits -= 1
        let middle = part.lowerBound + part.count / 2
        parts.append(middle..<part.upperBound)
        parts.append(part.lowerBound..<middle)
        return true
    }
}

/// The failure of a commit.
@usableFromInline package struct CommitFailure: Error {
    /// The error that the submitters receive.
    @usableFromInline package let reason: StoreError
    /// Whether the other writes may succeed without one of them. False when the whole file is affected, for example by
    /// a full disk.
    @usableFromInline package let mayBeOfOneWrite: Bool

    /// Takes the error and its reach; see ``mayBeOfOneWrite``.
    package init(reason: StoreError, mayBeOfOneWrite: Bool) {
        (self.reason, self.mayBeOfOneWrite) = (reason, mayBeOfOneWrite)
    }
}
