/// Files made of chunks: RIFF and the older IFF.
extension MediaMeasures {
    /// Chunks of a file, one after the other. Sizes say what is in a chunk, without its header; odd ones are padded.
    private struct Chunks {
        var place = 12
        let isBigEndian: Bool

        /// The name and size of a chunk and its first bytes; nil at the end.
        mutating func next(
            _ reader: inout MediaReader
        ) throws(MediaError) -> (header: HeaderBytes, size: Int, start: Int)? {
            let header = try reader.read(40, at: place)
            guard let size = isBigEndian ? header.big(4, at: 4) : header.little(4, at: 4) else { return nil }
            let start = place + 8
            place = start + size + size & 1
            return (header, size, start)
        }
    }

    /// By the bytes that a second takes, and where these differ by the samples that the chunk `fact` counts.
    static func wav(_ reader: inout MediaReader) throws(MediaError) -> Int? {
        var chunks = Chunks(isBigEndian: false)
        var format: (tag: Int, rate: Int, bytesPerSecond: Int)?
        var samples: Int?
        while let chunk = try chunks.next(&reader) {
            let header = chunk.header
            if header.holds("fmt "), let tag = header.little(2, at: 8), let rate = header.little(4, at: 12),
                let bytes = header.little(4, at: 16)
            {
                format = (tag, rate, bytes)
            } else if header.holds("fact") {
                samples = header.little(4, at: 8)
            } else if header.holds("data") {
                guard let format else { return nil }
                // PCM, floating point and "extensible", which is one of them, need no count.
                if let samples, ![1, 3, 0xFFFE].contains(format.tag) {
                    return milliseconds(samples, perSecond: format.rate)
                }
                // Who writes as it comes does not know the size before.
                let size = min(chunk.size, reader.length - chunk.start)
                return milliseconds(size, perSecond: format.bytesPerSecond)
            }
        }
        return nil
    }

    /// By the frames and the rate of the chunk `COMM`. Where sound is compressed so that a frame is no sample, nil.
    static func aiff(_ reader: inout MediaReader) throws(MediaError) -> Int? {
        var chunks = Chunks(isBigEndian: true)
        let isCompressed = try reader.read(12, at: 0).holds("AIFC", at: 8)
        let plain: [StaticString] = [
            "NONE", "sowt", "twos", "raw ", "in24", "in32", "fl32", "FL32", "fl64", "FL64", "ulaw", "ULAW", "alaw",
            "ALAW",
        ]
        while let chunk = try chunks.next(&reader) {
            let header = chunk.header
            guard header.holds("COMM") else { continue }
            guard let frames = header.big(4, at: 10), let rate = extended(header, at: 16), frames > 0, rate >= 1 else {
                return nil
            }
            if isCompressed, !plain.contains(where: { header.holds($0, at: 26) }) { return nil }
            let milliseconds = (Double(frames) * 1000 / rate).rounded()
            return milliseconds >= 1 ? Int(exactly: milliseconds) : nil
        }
        return nil
    }

    /// A number of 80 bits (IEEE 754, double extended): an exponent of 15, and 64 without a hidden one.
    private static func extended(_ header: HeaderBytes, at place: Int) -> Double? {
        guard let exponent = header.big(2, at: place), let high = header.big(4, at: place + 2),
            let low = header.big(4, at: place + 6), (16_383..<16_383 + 32).contains(exponent)
        else { return nil }
        let mantissa = UInt64(high) << 32 | UInt64(low)
        return Double(sign: .plus, exponent: exponent - 16_383 - 63, significand: Double(mantissa))
    }

    /// The main header of an AVI comes first: `LIST hdrl avih`.
    static func avi(_ reader: inout MediaReader) throws(MediaError) -> MediaMeasures {
        let header = try reader.read(72, at: 0)
        guard header.holds("LIST", at: 12), header.holds("hdrl", at: 20), header.holds("avih", at: 24) else {
            return Self()
        }
        var measures = Self(size: (header.little(4, at: 64), header.little(4, at: 68)))
        if let perFrame = header.little(4, at: 32), let frames = header.little(4, at: 48) {
            // Both are of 32 bits, so their product fits but for a bit.
            let (microseconds, overflow) = perFrame.multipliedReportingOverflow(by: frames)
            measures.milliseconds = overflow ? nil : milliseconds(microseconds, perSecond: 1_000_000)
        }
        return measures
    }
}
