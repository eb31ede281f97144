/// How much of the inputs is dealt with, in bytes as they lie there. Inputs are read in blocks, ahead of what is done with them,
/// and may be compressed: within a block, what was settled counts by its share.
package struct SettledBytes: Sendable {
    /// The end of a block, and how much of all inputs lies before it.
    private struct Mark {
        let position: InputPosition
        let bytes: Int
    }

    /// Ends of blocks that were read and are not settled.
    private var read: [Mark] = []
    private var settled: Mark

    /// `start`: where reading begins, with all the inputs' bytes before it.
    package init(from start: InputPosition = InputPosition(), bytes: Int = 0) {
        settled = Mark(position: start, bytes: bytes)
    }

    /// Says that a block was read. `bytes`: of all inputs up to its end.
    package mutating func read(upTo end: InputPosition, bytes: Int) {
        read.append(Mark(position: end, bytes: bytes))
    }

    /// Says that all before a position is settled; returns how much of all inputs that is.
    package mutating func settle(upTo position: InputPosition) -> Int {
        while let next = read.first, next.position <= position {
            settled = next
            read.removeFirst()
        }
        guard let next = read.first, position > settled.position, position.input == next.position.input else {
            return settled.bytes
        }
        let start = settled.position.input == position.input ? settled.position.offset : 0
        let share = Double(position.offset - start) / Double(next.position.offset - start)
        return settled.bytes + Int(share * Double(next.bytes - settled.bytes))
    }
}
