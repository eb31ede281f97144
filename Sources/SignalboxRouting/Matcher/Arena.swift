/// Owns the memory that a compiled matcher reads. The matcher reads it through buffer pointers, without reference
/// counting.
///
/// A class because it owns the memory. Sendable because nothing writes to the memory once it is stored, and a matcher
/// is shared only after it is compiled. Types of the matcher that hold its pointers are trivial values; they must not
/// outlive it.
final class Arena: @unchecked Sendable {
    /// Freed together.
    private var blocks: [UnsafeMutableRawPointer] = []

    deinit { for block in blocks { block.deallocate() } }

    /// Copies elements into memory that lives as long as the arena. The address of an empty array is valid too. Call
    /// it only while the matcher is compiled: it is not thread-safe.
    func store<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
        if let start = memory.baseAddress { blocks.append(UnsafeMutableRawPointer(start)) }
        _ = memory.initialize(from: elements)
        return UnsafeBufferPointer(rebasing: memory[..<elements.count])
    }
}

/// Neighbouring elements of an array. It replaces an array in each element, so that tables are flat and without
/// reference counting.
struct Run: BitwiseCopyable {
    var start: UInt32 = 0
    var count: UInt32 = 0

    /// True for a run without elements; its start has no meaning then.
    var isEmpty: Bool { count == 0 }

    /// The indices of the elements.
    var range: Range<Int> { Range(uncheckedBounds: (Int(start), Int(start) + Int(count))) }
}

/// Tables are built as arrays and then stored.
extension Array {
    /// Appends elements and returns where they are.
    mutating func appendRun(_ elements: some Collection<Element>) -> Run {
        defer { self += elements }
        return Run(start: UInt32(count), count: UInt32(elements.count))
    }
}

/// A rule that the index found for a value. Posting lists, the lists that the index leads to, are runs of candidates.
struct Candidate: BitwiseCopyable {
    /// The number of the rule, shifted left by the bit for `needsCheck`.
    private let bits: UInt32

    /// `needsCheck`: the value may fail the condition that led to the rule, so it is still to be evaluated.
    init(rule: Int, needsCheck: Bool) { bits = UInt32(rule) << 1 | (needsCheck ? 1 : 0) }

    /// The number of the rule in the tables of the matcher.
    var rule: Int { Int(bits >> 1) }
    /// False if the lookup itself proves the condition.
    var needsCheck: Bool { bits & 1 == 1 }
}
