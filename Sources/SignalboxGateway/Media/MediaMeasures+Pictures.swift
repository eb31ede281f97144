/// Pictures: each has its size near its beginning.
extension MediaMeasures {
    /// The chunk `IHDR` is the first (PNG, 11.2.1); files made for iPhones have one before it.
    static func png(_ reader: inout MediaReader) throws(MediaError) -> MediaMeasures {
        var place = 8
        for _ in 0..<4 {
            let chunk = try reader.read(16, at: place)
            guard let size = chunk.big(4, at: 0) else { break }
            if chunk.holds("IHDR", at: 4) { return Self(size: (chunk.big(4, at: 8), chunk.big(4, at: 12))) }
            place += size + 12
        }
        return Self()
    }

    /// A frame header (ITU-T T.81, B.2.2) comes behind other segments, before the first scan. A thumbnail within a
    /// segment is passed with it.
    static func jpeg(_ reader: inout MediaReader) throws(MediaError) -> MediaMeasures {
        var place = 2
        while true {
            let segment = try reader.read(9, at: place)
            guard segment[0] == 0xFF, let marker = segment[1] else { return Self() }
            switch marker {
            // Bytes that fill.
            case 0xFF: place += 1
            // Markers by themselves.
            case 0x01, 0xD0...0xD8: place += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return Self(size: (segment.big(2, at: 7), segment.big(2, at: 5)))
            case 0xD9, 0xDA: return Self()
            default:
                guard let size = segment.big(2, at: 2), size >= 2 else { return Self() }
                place += 2 + size
            }
        }
    }

    /// Of the logical screen (GIF89a, 18).
    static func gif(_ reader: inout MediaReader) throws(MediaError) -> MediaMeasures {
        let header = try reader.read(10, at: 0)
        return Self(size: (header.little(2, at: 6), header.little(2, at: 8)))
    }

    /// The first chunk is one of three (RFC 9649, 2.5 to 2.7).
    static func webp(_ reader: inout MediaReader) throws(MediaError) -> MediaMeasures {
        let header = try reader.read(30, at: 0)
        if header.holds("VP8X", at: 12) {
            return Self(size: (header.little(3, at: 24).map { $0 + 1 }, header.little(3, at: 27).map { $0 + 1 }))
        }
        if header.holds("VP8L", at: 12), header[20] == 0x2F, let bits = header.little(4, at: 21) {
            return Self(size: (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1))
        }
        // A key frame of VP8 (RFC 6386, 9.1).
        guard header.holds("VP8 ", at: 12), header.holds(bytes: [0x9D, 0x01, 0x2A], at: 23) else { return Self() }
        return Self(size: (header.little(2, at: 26).map { $0 & 0x3FFF }, header.little(2, at: 28).map { $0 & 0x3FFF }))
    }
}
