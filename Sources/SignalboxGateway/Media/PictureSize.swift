package import SignalboxNotification

/// The width and height of a picture in pixels, as its header says. EXIF's rotation does not count.
package struct PictureSize: Sendable, Equatable {
    package let width: Int
    package let height: Int

    /// How many bytes of a file may be read for its size. JPEG files have metadata before it.
    package static let telling = 128 * 1024

    /// `beginning`: the whole file, or at least its first ``telling`` bytes. Nil for other kinds than PNG, JPEG, GIF
    /// and WebP, and for numbers that are missing or 0.
    package init?(of kind: MediaKind, beginning: [UInt8]) {
        let header = HeaderBytes(beginning)
        let size: (width: Int?, height: Int?)? =
            switch kind {
            case .png: Self.png(header)
            case .jpeg: Self.jpeg(header)
            // The logical screen (GIF89a, 18).
            case .gif: (header.little(2, at: 6), header.little(2, at: 8))
            case .webp: Self.webp(header)
            default: nil
            }
        guard let width = size?.width, let height = size?.height, width > 0, height > 0 else { return nil }
        self.width = width
        self.height = height
    }

    /// The chunk `IHDR` is the first (PNG, 11.2.1); files made for iPhones have one before it.
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

    /// The frame header (ITU-T T.81, B.2.2) is behind other segments, before the first scan. Thumbnails are inside of
    /// segments.
    private static func jpeg(_ header: HeaderBytes) -> (Int?, Int?)? {
        var segment = 2
        while header[segment] == 0xFF, let marker = header[segment + 1] {
            switch marker {
            // A fill byte.
            case 0xFF: segment += 1
            // Markers without a segment.
            case 0x01, 0xD0...0xD8: segment += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return (header.big(2, at: segment + 7), header.big(2, at: segment + 5))
            case 0xD9, 0xDA: return nil
            default:
                guard let size = header.big(2, at: segment + 2), size >= 2 else { return nil }
                segment += 2 + size
            }
        }
        return nil
    }

    /// The first chunk is one of three (RFC 9649, 2.5 to 2.7).
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
