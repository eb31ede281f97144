package import SignalboxNotification

/// How large a picture or film is, and how long a sound or film takes, as far as the headers of the file tell.
///
/// Nothing is decoded and nobody is believed: numbers that make no sense are nil. Blocks while it reads.
package struct MediaMeasures: Sendable, Equatable {
    /// In pixels, as they are stored: turning by EXIF or by a film's matrix is for who shows it. There are both or none.
    package var width: Int?
    package var height: Int?
    /// Never 0. Animated pictures have none.
    package var milliseconds: Int?

    package init(width: Int? = nil, height: Int? = nil, milliseconds: Int? = nil) {
        self.width = width
        self.height = height
        self.milliseconds = milliseconds
    }

    /// Reads an open file, of which the place is not moved. `kind`: what it is; `bytes`: its length.
    package init(of file: Int32, kind: MediaKind, bytes: Int) throws(MediaError) {
        var reader = MediaReader(.file(file), length: bytes)
        self = try Self.read(&reader, kind: kind)
    }

    /// Reads a file that is in memory.
    package init(in bytes: [UInt8], kind: MediaKind) throws(MediaError) {
        var reader = MediaReader(.memory(bytes), length: bytes.count)
        self = try Self.read(&reader, kind: kind)
    }

    private static func read(_ reader: inout MediaReader, kind: MediaKind) throws(MediaError) -> MediaMeasures {
        switch kind {
        case .png: try png(&reader)
        case .jpeg: try jpeg(&reader)
        case .gif: try gif(&reader)
        case .webp: try webp(&reader)
        case .wav: MediaMeasures(milliseconds: try wav(&reader))
        case .aiff: MediaMeasures(milliseconds: try aiff(&reader))
        case .mp3: MediaMeasures(milliseconds: try mp3(&reader))
        case .m4a, .mp4, .quicktime: try boxes(&reader)
        case .avi: try avi(&reader)
        // Their sizes are not in a header at their beginning.
        case .heic, .avif, .mpeg, .mpeg2, .transportStream: MediaMeasures()
        case .calendar, .html, .svg, .xml, .pdf, .executable, .archive, .other: MediaMeasures()
        }
    }

    /// Nothing when one of them is missing or 0.
    init(size: (width: Int?, height: Int?)) {
        guard let width = size.width, let height = size.height, width > 0, height > 0 else {
            self.init()
            return
        }
        self.init(width: width, height: height)
    }

    /// So many units of which so many make a second, rounded to the next millisecond; nil for nothing, and for what no
    /// file takes.
    static func milliseconds(_ units: Int, perSecond: Int) -> Int? {
        guard units > 0, perSecond > 0 else { return nil }
        let (scaled, overflow) = units.multipliedReportingOverflow(by: 1000)
        let (rounded, overflows) = scaled.addingReportingOverflow(perSecond / 2)
        guard !overflow, !overflows, rounded >= perSecond else { return nil }
        return rounded / perSecond
    }
}
