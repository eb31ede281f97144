package import SignalboxNotification

/// The width and height of an image in pixels, as its header says. EXIF's rotation does not count.
package struct PictureSize: Sendable, Equatable {
    /// In pixels, above 0.
    package let width: Int
    /// In pixels, above 0.
    package let height: Int

    /// Bytes of a file that contain the size, except in a JPEG file, which may have any metadata before it.
    private static let header = 256
    /// Segments of a JPEG file that are skipped in search of the size, at most.
    private static let mostSegments = 1024

    /// Reads a file piece by piece: of a JPEG file the heads of its segments, of others the first bytes. Nil for
    /// other kinds than PNG, JPEG, GIF and WebP, and for numbers that are missing or 0. `read`: returns up to
    /// `count` bytes from an offset, fewer at the end of the file.
    package init?<E: Error>(of kind: MediaKind, read: (_ offset: Int, _ count: Int) throws(E) -> [UInt8]) throws(E) {
        let size: (width: Int?, height: Int?)?
        switch kind {
        case .png: size = Self.png(HeaderBytes(try read(0, Self.header)))
        case .jpeg: size = try Self.jpeg(read)
        // The logical screen (GIF89a, 18).
        case .gif:
            let header = HeaderBytes(try read(0, Self.header))
            size = (header.little(2, at: 6), header.little(2, at: 8))
        case .webp: size = Self.webp(HeaderBytes(try read(0, Self.header)))
        default: size = nil
        }
        guard let width = size?.width, let height = size?.height, width > 0, height > 0 else { return nil }
        (self.width, self.height) = (width, height)
    }

    /// The size of a whole file in memory. Nil in the same cases as for a file on disk.
    package init?(of kind: MediaKind, in file: [UInt8]) {
        self.init(of: kind) { offset, count in Array(file.dropFirst(offset).prefix(count)) }
    }

    /// The chunk `IHDR` is the first (PNG, 11.2.1); files made for iPhones have one before it. Looks at the first
    /// four chunks only.
    private static func png(_ header: HeaderBytes) -> (Int?, Int?)? {
        var chunk = 8
        for _ in 0..<4 {
            if header.holds("IHDR", at: chunk + 4) {
                return (header.big(4, at: chunk + 8), header.big(4, at: chunk + 12))
            }
            guard let size = header.big(4, at: chunk) else { return nil }
            chunk += size + 12
        }
        return nil
    }

    /// The frame header (ITU-T T.81, B.2.2) is after other segments, before the first scan. Thumbnails are inside
    /// segments. Reads nine bytes for each segment, so large metadata costs no memory. Nil after ``mostSegments``
    /// segments.
    private static func jpeg<E: Error>(
        _ read: (_ offset: Int, _ count: Int) throws(E) -> [UInt8]
    ) throws(E) -> (Int?, Int?)? {
        var segment = 2
        for _ in 0..<mostSegments {
            let head = HeaderBytes(try read(segment, 9))
            guard head[0] == 0xFF, let marker = head[1] else { return nil }
            switch marker {
            // A fill byte.
            case 0xFF: segment += 1
            // Markers without a segment.
            case 0x01, 0xD0...0xD8: segment += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: return (head.big(2, at: 7), head.big(2, at: 5))
            case 0xD9, 0xDA: return nil
            default:
                guard let size = head.big(2, at: 2), size >= 2 else { return nil }
                segment += 2 + size
            }
        }
        return nil
    }

    /// The first chunk is one of three (RFC 9649, 2.5 to 2.7). Lossy, lossless and extended files have different
    /// headers.
    private static func webp(_ header: HeaderBytes) -> (Int?, Int?)? {
        if header.holds("VP8X", at: 12) {
            return (header.little(3, at: 24).map { $0 + 1 }, header.little(3, at: 27).map { $0 + 1 })
        }
        if header.holds("VP8L", at: 12), header[20] == 0x2F, let bits = header.little(4, at: 21) {
            return (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        }
        // A key frame of VP8 (RFC 6386, 9.1).
        guard header.holds("VP8 ", at: 12), header.holds(bytes: [0x9D, 0x01, 0x2A], at: 23) else { return nil }
        return (header.little(2, at: 26).map { $0 & 0x3FFF }, header.little(2, at: 28).map { $0 & 0x3FFF })
    }
}
