/// How far inputs were read: of all before it everything, of it what begins before an offset.
package struct InputPosition: Sendable, Equatable, Comparable, Codable {
    /// Position among the inputs, from 0.
    package var input: Int
    /// Bytes, decompressed.
    package var offset: Int

    package init(input: Int = 0, offset: Int = 0) {
        self.input = input
        self.offset = offset
    }

    package static func < (left: InputPosition, right: InputPosition) -> Bool {
        (left.input, left.offset) < (right.input, right.offset)
    }
}
