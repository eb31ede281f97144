/// MPEG-4 and QuickTime (ISO/IEC 14496-12): everything is in the box `moov`, wherever that stands.
extension MediaMeasures {
    /// One box: its name and what is in it.
    private struct Box {
        let header: HeaderBytes
        let content: Range<Int>

        func `is`(_ name: StaticString) -> Bool { header.holds(name, at: 4) }
    }

    /// The box at a place within another, or the file; nil where none is. Sizes of 32 bits, of 64, and "to the end"
    /// (section 4.2).
    private static func box(at place: Int, until end: Int, _ reader: inout MediaReader) throws(MediaError) -> Box? {
        guard place < end else { return nil }
        let header = try reader.read(16, at: place)
        guard let short = header.big(4, at: 0), header.count >= 8 else { return nil }
        let start = short == 1 ? 16 : 8
        let size = short == 1 ? header.big8(at: 8) : short == 0 ? end - place : short
        guard let size, size >= start, size <= end - place else { return nil }
        return Box(header: header, content: place + start..<place + size)
    }

    static func boxes(_ reader: inout MediaReader) throws(MediaError) -> MediaMeasures {
        var place = 0
        while let box = try box(at: place, until: reader.length, &reader) {
            if box.is("moov") { return try movie(box.content, &reader) }
            place = box.content.upperBound
        }
        return Self()
    }

    private static func movie(_ content: Range<Int>, _ reader: inout MediaReader) throws(MediaError) -> MediaMeasures {
        var size: MediaMeasures?
        var time: (scale: Int?, whole: Int?, fragments: Int?)
        var place = content.lowerBound
        while let box = try box(at: place, until: content.upperBound, &reader) {
            if box.is("mvhd") {
                let header = try reader.read(32, at: box.content.lowerBound)
                let isLong = header[0] == 1
                time.scale = header.big(4, at: isLong ? 20 : 12)
                time.whole = duration(header, at: isLong ? 24 : 16, isLong: isLong)
            } else if box.is("trak"), size == nil {
                size = try film(box.content, &reader)
            } else if box.is("mvex") {
                time.fragments = try fragments(box.content, &reader)
            }
            place = box.content.upperBound
        }
        var measures = size ?? Self()
        if let scale = time.scale, let units = time.whole ?? time.fragments {
            measures.milliseconds = milliseconds(units, perSecond: scale)
        }
        return measures
    }

    /// Nil when it is unknown: all bits set, or 0 where the film is in fragments.
    private static func duration(_ header: HeaderBytes, at place: Int, isLong: Bool) -> Int? {
        guard let units = isLong ? header.big8(at: place) : header.big(4, at: place) else { return nil }
        return units == 0 || (!isLong && units == 0xFFFF_FFFF) ? nil : units
    }

    /// Of all fragments together (section 8.8.2).
    private static func fragments(_ content: Range<Int>, _ reader: inout MediaReader) throws(MediaError) -> Int? {
        var place = content.lowerBound
        while let box = try box(at: place, until: content.upperBound, &reader) {
            if box.is("mehd") {
                let header = try reader.read(12, at: box.content.lowerBound)
                return duration(header, at: 4, isLong: header[0] == 1)
            }
            place = box.content.upperBound
        }
        return nil
    }

    /// The size that a track has on the screen, before it is turned (section 8.3.2); nil for other tracks than films.
    private static func film(_ content: Range<Int>, _ reader: inout MediaReader) throws(MediaError) -> MediaMeasures? {
        var size: MediaMeasures?
        var isFilm = false
        var place = content.lowerBound
        while let box = try box(at: place, until: content.upperBound, &reader) {
            if box.is("tkhd") {
                let header = try reader.read(96, at: box.content.lowerBound)
                // Two numbers of 16 bits before the point and 16 behind it.
                let end = header[0] == 1 ? 88 : 76
                size = Self(size: (header.big(2, at: end), header.big(2, at: end + 4)))
            } else if box.is("mdia") {
                isFilm = try isFilmHandler(box.content, &reader)
            }
            place = box.content.upperBound
        }
        return isFilm ? size : nil
    }

    private static func isFilmHandler(
        _ content: Range<Int>, _ reader: inout MediaReader
    ) throws(MediaError) -> Bool {
        var place = content.lowerBound
        while let box = try box(at: place, until: content.upperBound, &reader) {
            if box.is("hdlr") { return try reader.read(12, at: box.content.lowerBound).holds("vide", at: 8) }
            place = box.content.upperBound
        }
        return false
    }
}
