package import SignalboxNotification

/// Finds the kind of a file by its first bytes; URLs and servers are not trusted.
///
/// A signature of a binary format decides, so an image that contains HTML is an image. Markup and calendars come last.
extension MediaKind {
    /// How many bytes decide the kind: three packets of a transport stream, two frames of MP3, and the prologs and
    /// comments before the first element of most XML files.
    package static let telling = 4096

    /// `beginning`: the whole file, or at least its first ``telling`` bytes; later bytes do not count. Every sequence
    /// of bytes has a kind; ``other`` if no signature matches. Never traps on malformed files.
    package init(beginning: [UInt8]) {
        let header = HeaderBytes(beginning.count > Self.telling ? Array(beginning.prefix(Self.telling)) : beginning)
        self =
            Self.picture(header) ?? Self.riff(header) ?? Self.sound(header) ?? Self.boxes(header)
            ?? Self.mpeg(header) ?? Self.document(header) ?? Self.markup(header) ?? .other
    }

    /// PNG, JPEG and GIF by their first bytes.
    private static func picture(_ header: HeaderBytes) -> MediaKind? {
        if header.holds(bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        // A marker of 0xC0 or above follows the start of the image.
        if header.holds(bytes: [0xFF, 0xD8, 0xFF]), header[3] ?? 0 >= 0xC0 { return .jpeg }
        return header.holds("GIF87a") || header.holds("GIF89a") ? .gif : nil
    }

    /// WebP, WAV and AVI, which share a container.
    private static func riff(_ header: HeaderBytes) -> MediaKind? {
        guard header.holds("RIFF") else { return nil }
        if header.holds("WEBPVP8", at: 8) { return .webp }
        if header.holds("WAVE", at: 8) { return .wav }
        return header.holds("AVI ", at: 8) ? .avi : nil
    }

    // MARK: Sounds

    /// AIFF, and MP3 with or without a tag. ``riff(_:)`` and ``boxes(_:)`` find audio in other containers.
    private static func sound(_ header: HeaderBytes) -> MediaKind? {
        if header.holds("FORM"), header.holds("AIFF", at: 8) || header.holds("AIFC", at: 8) { return .aiff }
        // The eleven set bits that begin a frame occur in many files; a second frame right after the first does not.
        guard let tag = id3TagBytes(header) else {
            guard let first = MP3Frame(header, at: 0), let second = MP3Frame(header, at: first.bytes) else {
                return nil
            }
            return first.stream == second.stream ? .mp3 : nil
        }
        // Zeros may pad the tag. The frame after it may lie beyond the header.
        var offset = tag
        while header[offset] == 0 { offset += 1 }
        return header.count < offset + 4 || MP3Frame(header, at: offset) != nil ? .mp3 : nil
    }

    /// The length of the tag before the frames of many MP3 files (ID3v2 structure, 3.1), with header and footer; nil
    /// without a tag.
    private static func id3TagBytes(_ header: HeaderBytes) -> Int? {
        guard header.holds("ID3"), let version = header[3], (2...4).contains(version), let flags = header[5] else {
            return nil
        }
        var size = 0
        for offset in 6..<10 {
            guard let digit = header[offset], digit < 0x80 else { return nil }
            size = size << 7 | Int(digit)
        }
        return 10 + size + (flags & 0x10 != 0 ? 10 : 0)
    }

    /// The header of a frame of MPEG audio, layer III (ISO/IEC 11172-3 and 13818-3, 2.4.1.3; "MPEG 2.5" halves the
    /// frequencies again).
    private struct MP3Frame {
        /// Length of the frame with its header.
        let bytes: Int
        /// Version and frequency, which are the same in all frames of a file.
        let stream: [Int]

        /// Nil without a frame, and for a frame of the "free format", whose header does not contain its length.
        init?(_ header: HeaderBytes, at offset: Int) {
            guard let word = header.big(4, at: offset), word >> 21 == 0x7FF else { return nil }
            let version = word >> 19 & 3
            let (layer, rate, frequency) = (word >> 17 & 3, word >> 12 & 15, word >> 10 & 3)
            guard version != 1, layer == 1, (1...14).contains(rate), frequency != 3, word & 3 != 2 else { return nil }
            let isMPEG1 = version == 3
            let kilobits =
                isMPEG1
                ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
                : [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
            let samplesPerSecond = [44_100, 48_000, 32_000][frequency] >> (isMPEG1 ? 0 : version == 2 ? 1 : 2)
            let padding = word >> 9 & 1
            bytes = (isMPEG1 ? 144 : 72) * kilobits[rate - 1] * 1000 / samplesPerSecond + padding
            stream = [version, frequency]
        }
    }

    // MARK: MPEG-4, QuickTime and their relatives

    /// Files made of boxes (ISO/IEC 14496-12, 4.3).
    private static func boxes(_ header: HeaderBytes) -> MediaKind? {
        guard header.holds("ftyp", at: 4), let size = header.big(4, at: 0), size >= 16, size.isMultiple(of: 4) else {
            return isOldQuickTime(header) ? .quicktime : nil
        }
        func brand(at offset: Int) -> String { String(decoding: header.bytes[offset...].prefix(4), as: UTF8.self) }
        // The minor version is between the major brand and the compatible brands.
        let others = stride(from: 16, to: min(size, header.count - 3), by: 4).map(brand)
        // Only these major brands mean audio without video. The box with the tracks may be at the end of the file, so
        // other brands of MPEG-4 count as video.
        switch brand(at: 8) {
        case "M4A ", "M4B ", "M4P ", "F4A ", "F4B ": return .m4a
        case "qt  ": return .quicktime
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heic
        case "avif", "avis": return .avif
        case "mif1", "msf1":
            if others.contains(where: { $0 == "avif" || $0 == "avis" }) { return .avif }
            return others.contains { $0.hasPrefix("hei") || $0.hasPrefix("hev") } ? .heic : nil
        case let major where major.hasPrefix("3g"): return nil
        case let major:
            let isMPEG4 = ([major] + others).contains { brand in
                ["mp4", "iso", "M4V", "avc1", "dash", "cmf", "F4V ", "MSNV"].contains { brand.hasPrefix($0) }
            }
            return isMPEG4 ? .mp4 : nil
        }
    }

    /// QuickTime files older than the box `ftyp`. Texts may contain the same words, but not the lengths before them.
    private static func isOldQuickTime(_ header: HeaderBytes) -> Bool {
        var offset = 0
        for _ in 0..<4 {
            guard let size = header.big(4, at: offset), size < 0x0900_0000 else { return false }
            if header.holds("moov", at: offset + 4) {
                let names: [StaticString] = ["mvhd", "cmov", "rmra"]
                return names.contains { header.holds($0, at: offset + 12) }
            }
            if header.holds("mdat", at: offset + 4) { return size == 1 || size >= 8 }
            let fillers: [StaticString] = ["wide", "free", "skip"]
            guard fillers.contains(where: { header.holds($0, at: offset + 4) }), size >= 8 else { return false }
            offset += size
        }
        return false
    }

    // MARK: MPEG-1 and MPEG-2

    /// Program streams, video streams and transport streams of MPEG-1 and MPEG-2.
    private static func mpeg(_ header: HeaderBytes) -> MediaKind? {
        if header.holds(bytes: [0, 0, 1, 0xBA]), let next = header[4] {
            // The pack header of MPEG-2 (ISO/IEC 13818-1, 2.5.3.3) or of MPEG-1 (11172-1, 2.4.3.2).
            return next & 0xC4 == 0x44 || next & 0xF1 == 0x21 ? .mpeg : nil
        }
        if header.holds(bytes: [0, 0, 1, 0xB3]) { return isMPEG2(header) ? .mpeg2 : .mpeg }
        return isTransportStream(header) ? .transportStream : nil
    }

    /// The sequence header of MPEG-2 has an extension right after it (ISO/IEC 13818-2, 6.2.2.3 and 6.3.3).
    private static func isMPEG2(_ header: HeaderBytes) -> Bool {
        // After the header itself and up to two quantiser matrices of 64 bytes.
        [12, 76, 140].contains { end in
            header.holds(bytes: [0, 0, 1, 0xB5], at: end) && (header[end + 4] ?? 0) >> 4 == 1
        }
    }

    /// Three packets of 188 bytes, each with a sync byte, content and no error (ISO/IEC 13818-1, 2.4.3.2). The first
    /// packet must have a byte 0 or 0xFF, because text may have the letter G (0x47) at these offsets.
    private static func isTransportStream(_ header: HeaderBytes) -> Bool {
        let isSynced = [0, 188, 376].allSatisfy { offset in
            guard let word = header.big(4, at: offset) else { return false }
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

    /// PDF, programs and archives. Programs are recognised so that they can be rejected by name.
    private static func document(_ header: HeaderBytes) -> MediaKind? {
        if header.holds("%PDF-") { return .pdf }
        if programs.contains(where: { header.holds(bytes: $0) }) { return .executable }
        // A DOS header has zeros after the two letters; a text has none.
        if header.holds("MZ"), header.count >= 64, header.bytes.prefix(64).contains(0) { return .executable }
        if header.holds("#!/") || header.holds("#! /") { return .executable }
        return archives.contains { header.holds(bytes: $0) } ? .archive : nil
    }
}
