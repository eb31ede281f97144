/// Plain memory that is written once and lives as long as this does. What matching reads for every event lies in it, so
/// that reading counts no references.
///
/// A class because it owns the memory; sendable because nobody writes after `keep` has returned.
final class Arena: @unchecked Sendable {
    private var blocks: [UnsafeMutableRawPointer] = []

    deinit { for block in blocks { block.deallocate() } }

    func keep<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
        if let start = memory.baseAddress { blocks.append(UnsafeMutableRawPointer(start)) }
        _ = memory.initialize(from: elements)
        return UnsafeBufferPointer(rebasing: memory[..<elements.count])
    }
}

/// A part of a list of candidates.
struct Posting: BitwiseCopyable {
    var start: UInt32 = 0
    var count: UInt32 = 0
}

/// Lists of candidates while they are written.
struct Postings {
    private(set) var candidates: [UInt32] = []

    mutating func add(_ more: [UInt32]) -> Posting {
        defer { candidates += more }
        return Posting(start: UInt32(candidates.count), count: UInt32(more.count))
    }
}
