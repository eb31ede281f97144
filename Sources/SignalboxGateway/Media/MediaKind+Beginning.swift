package import SignalboxNotification

/// Kinds by the first bytes of files.
///
/// Where a signature of a binary format stands, it decides, whatever follows; so a picture with HTML in it is a
/// picture. Then come the marks of HTML, SVG and XML, and of calendars.
extension MediaKind {
    /// How many bytes of a file's beginning tell its kind. Enough for three packets of a transport stream, for two frames
    /// of MP3, and for the prologs and comments before most first elements of XML.
    package static let telling = 4096

    /// The kind of a file that begins so: all of it, or its first ``telling`` bytes.
    package init(beginning: [UInt8]) {
        let header = HeaderBytes(beginning.count > Self.telling ? Array(beginning.prefix(Self.telling)) : beginning)
        self =
            Self.picture(header) ?? Self.inRIFF(header) ?? Self.sound(header) ?? Self.inBoxes(header)
            ?? Self.mpeg(header) ?? Self.document(header) ?? Self.markup(header) ?? .other
    }

    private static func picture(_ header: HeaderBytes) -> MediaKind? {
        if header.holds(bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        // A marker follows the start of the image: 0xC0 and up.
        if header.holds(bytes: [0xFF, 0xD8, 0xFF]), header[3] ?? 0 >= 0xC0 { return .jpeg }
        if header.holds("GIF87a") || header.holds("GIF89a") { return .gif }
        return nil
    }

    private static func inRIFF(_ header: HeaderBytes) -> MediaKind? {
        guard header.holds("RIFF") else { return nil }
        if header.holds("WEBPVP8", at: 8) { return .webp }
        if header.holds("WAVE", at: 8) { return .wav }
        return header.holds("AVI ", at: 8) ? .avi : nil
    }

    private static func sound(_ header: HeaderBytes) -> MediaKind? {
        if header.holds("FORM"), header.holds("AIFF", at: 8) || header.holds("AIFC", at: 8) { return .aiff }
        guard let tag = ID3Tag(header) else { return hasTwoFrames(header, at: 0) ? .mp3 : nil }
        // Zeros may pad the tag. What it is for is beyond the bytes we have, or it is a frame.
        var place = tag.bytes
        while header[place] == 0 { place += 1 }
        return header.count < place + 4 || MP3Frame(header, at: place) != nil ? .mp3 : nil
    }

    /// The eleven set bits that begin a frame occur in many files; a second frame right behind the first does not.
    private static func hasTwoFrames(_ header: HeaderBytes, at place: Int) -> Bool {
        guard let first = MP3Frame(header, at: place), let second = MP3Frame(header, at: place + first.bytes) else {
            return false
        }
        return first.isOfOneStream(with: second)
    }

    // MARK: MPEG

    private static func mpeg(_ header: HeaderBytes) -> MediaKind? {
        if header.holds(bytes: [0, 0, 1, 0xBA]), let next = header[4] {
            // The pack header of MPEG-2 (ISO/IEC 13818-1, 2.5.3.3), or that of MPEG-1 (11172-1, 2.4.3.2).
            return next & 0xC4 == 0x44 || next & 0xF1 == 0x21 ? .mpeg : nil
        }
        if header.holds(bytes: [0, 0, 1, 0xB3]) { return isMPEG2(header) ? .mpeg2 : .mpeg }
        return isTransportStream(header) ? .transportStream : nil
    }

    /// The sequence header of MPEG-2 has an extension right behind it (ISO/IEC 13818-2, 6.2.2.3 and 6.3.3).
    private static func isMPEG2(_ header: HeaderBytes) -> Bool {
        guard let flags = header[11] else { return false }
        var end = 12
        var loadsNonIntra = flags & 1
        if flags & 2 != 0 {
            // Matrices of quantisers: the flag of the second is the last bit behind the first.
            end += 64
            loadsNonIntra = (header[end - 1] ?? 0) & 1
        }
        if loadsNonIntra != 0 { end += 64 }
        return header.holds(bytes: [0, 0, 1, 0xB5], at: end) && (header[end + 4] ?? 0) >> 4 == 1
    }

    /// Three packets of 188 bytes, each with a sync byte, no error and something in it (ISO/IEC 13818-1, 2.4.3.2); the
    /// first is not text, in which a letter G may stand at these places too.
    private static func isTransportStream(_ header: HeaderBytes) -> Bool {
        let isSynced = [0, 188, 376].allSatisfy { place in
            guard let word = header.big(4, at: place) else { return false }
            return word >> 24 == 0x47 && word & 0x80_0000 == 0 && word & 0x30 != 0
        }
        return isSynced && header.bytes.prefix(188).contains { $0 == 0 || $0 == 0xFF }
    }

    // MARK: Programs and documents

    private static let programs: [[UInt8]] = [
        [0x7F, 0x45, 0x4C, 0x46],  // ELF
        [0xFE, 0xED, 0xFA, 0xCE], [0xFE, 0xED, 0xFA, 0xCF],  // Mach-O, most significant byte first
        [0xCE, 0xFA, 0xED, 0xFE], [0xCF, 0xFA, 0xED, 0xFE],  // Mach-O, least significant byte first
        [0xCA, 0xFE, 0xBA, 0xBE],  // Mach-O for several processors, and Java's classes
        [0x00, 0x61, 0x73, 0x6D], [0x64, 0x65, 0x78, 0x0A],  // WebAssembly, Android
    ]

    private static let archives: [[UInt8]] = [
        [0x50, 0x4B, 3, 4], [0x50, 0x4B, 5, 6], [0x50, 0x4B, 7, 8], [0x1F, 0x8B, 8],  // ZIP and JAR, gzip
        [0x52, 0x61, 0x72, 0x21, 0x1A, 7], [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C],  // RAR, 7-Zip
        [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], [0x28, 0xB5, 0x2F, 0xFD],  // xz, Zstandard
    ]

    private static func document(_ header: HeaderBytes) -> MediaKind? {
        if header.holds("%PDF-") { return .pdf }
        if programs.contains(where: { header.holds(bytes: $0) }) { return .executable }
        // Two letters prove little: the header behind them has zeros, a text has none.
        if header.holds("MZ"), header.count >= 64, header.bytes.prefix(64).contains(0) { return .executable }
        if header.holds("#!/") || header.holds("#! /") { return .executable }
        return archives.contains { header.holds(bytes: $0) } ? .archive : nil
    }
}
