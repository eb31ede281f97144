/// A piece of a file that nobody vouches for: what lies outside of it is nil, so no place in it can trap.
struct HeaderBytes {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    subscript(_ place: Int) -> UInt8? { bytes.indices.contains(place) ? bytes[place] : nil }

    /// Whether these ASCII characters stand at a place.
    func holds(_ text: StaticString, at place: Int = 0) -> Bool {
        guard place >= 0, place <= count - text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in text.indices.allSatisfy { text[$0] == bytes[place + $0] } }
    }

    /// Whether these bytes stand at a place.
    func holds(bytes wanted: [UInt8], at place: Int = 0) -> Bool {
        place >= 0 && place <= count - wanted.count && bytes[place...].starts(with: wanted)
    }

    /// An unsigned number of so many bytes, most significant first; up to 7 bytes, so that it fits.
    func big(_ size: Int, at place: Int) -> Int? {
        guard place >= 0, size < 8, place <= count - size else { return nil }
        return bytes[place..<place + size].reduce(0) { $0 << 8 | Int($1) }
    }

    /// An unsigned number of so many bytes, least significant first; up to 7 bytes, so that it fits.
    func little(_ size: Int, at place: Int) -> Int? {
        guard place >= 0, size < 8, place <= count - size else { return nil }
        return bytes[place..<place + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// An unsigned number of eight bytes, most significant first; nil when it is too large for an `Int`.
    func big8(at place: Int) -> Int? {
        guard let high = big(4, at: place), let low = big(4, at: place + 4), high <= Int32.max else { return nil }
        return high << 32 | low
    }
}
