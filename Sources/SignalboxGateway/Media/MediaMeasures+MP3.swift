/// MP3 says how long it is nowhere; encoders leave a header in the first frame, and else frames of one rate tell.
extension MediaMeasures {
    /// Frames that must have the rate of the first, for the size of the file to tell anything.
    private static let looked = 100

    static func mp3(_ reader: inout MediaReader) throws(MediaError) -> Int? {
        guard let (start, frame) = try firstFrame(&reader) else { return nil }
        let header = try reader.read(frame.bytes, at: start)
        let place = frame.encoderHeader
        if header.holds("Xing", at: place) || header.holds("Info", at: place), let flags = header.big(4, at: place + 4),
            flags & 1 == 1, let frames = header.big(4, at: place + 8)
        {
            return milliseconds(frames * frame.samples, perSecond: frame.samplesPerSecond)
        }
        // Always 32 bytes behind the frame's own header.
        if header.holds("VBRI", at: 36), let frames = header.big(4, at: 50) {
            return milliseconds(frames * frame.samples, perSecond: frame.samplesPerSecond)
        }
        return try constantRate(&reader, from: start, like: frame)
    }

    /// Behind the tag, and what else may be in the way.
    private static func firstFrame(_ reader: inout MediaReader) throws(MediaError) -> (start: Int, frame: MP3Frame)? {
        var place = 0
        while let tag = ID3Tag(try reader.read(10, at: place)) { place += tag.bytes }
        let piece = try reader.read(8192, at: place)
        for offset in 0..<piece.count {
            guard let frame = MP3Frame(piece, at: offset), let next = MP3Frame(piece, at: offset + frame.bytes),
                next.isOfOneStream(with: frame)
            else { continue }
            return (place + offset, frame)
        }
        return nil
    }

    /// Nil when the rate changes: then only counting all frames would tell.
    private static func constantRate(
        _ reader: inout MediaReader, from start: Int, like first: MP3Frame
    ) throws(MediaError) -> Int? {
        var place = start
        for _ in 0..<looked {
            guard let frame = MP3Frame(try reader.read(4, at: place), at: 0), frame.isOfOneStream(with: first) else {
                break
            }
            guard frame.bitsPerSecond == first.bitsPerSecond else { return nil }
            place += frame.bytes
        }
        // The tag of ID3v1 at the end is no sound.
        let end = try reader.read(3, at: reader.length - 128).holds("TAG") ? reader.length - 128 : reader.length
        return milliseconds(end - start, perSecond: first.bitsPerSecond / 8)
    }
}
