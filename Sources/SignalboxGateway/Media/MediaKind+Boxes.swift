import SignalboxNotification

/// Files made of boxes: MPEG-4 and what descends from it (ISO/IEC 14496-12, 4.3), and QuickTime.
extension MediaKind {
    static func inBoxes(_ header: HeaderBytes) -> MediaKind? {
        guard header.holds("ftyp", at: 4), let size = header.big(4, at: 0), size >= 16, size.isMultiple(of: 4) else {
            return isOldQuickTime(header) ? .quicktime : nil
        }
        // The minor version stands between the major brand and those that the file is compatible with.
        let others = stride(from: 16, to: min(size, header.count - 3), by: 4).map { Array(header.bytes[$0..<$0 + 4]) }
        return kind(brand: Array(header.bytes[8..<min(12, header.count)]), others: others)
    }

    /// Sound only where the major brand says so: `M4A`, `M4B` and `M4P` are Apple's for that. What tracks there are
    /// stands in a box that may be at the end of the file, so a general brand counts as a film.
    private static func kind(brand: [UInt8], others: [[UInt8]]) -> MediaKind? {
        let others = others.map { String(decoding: $0, as: UTF8.self) }
        switch String(decoding: brand, as: UTF8.self) {
        case "M4A ", "M4B ", "M4P ", "F4A ", "F4B ": return .m4a
        case "qt  ": return .quicktime
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heic
        case "avif", "avis": return .avif
        case "mif1", "msf1":
            if others.contains(where: { $0 == "avif" || $0 == "avis" }) { return .avif }
            return others.contains { $0.hasPrefix("hei") || $0.hasPrefix("hev") } ? .heic : nil
        case let brand where brand.hasPrefix("3g"): return nil
        case let brand:
            let isMPEG4 = ([brand] + others).contains { brand in
                ["mp4", "iso", "M4V", "avc1", "dash", "cmf", "F4V ", "MSNV"].contains { brand.hasPrefix($0) }
            }
            return isMPEG4 ? .mp4 : nil
        }
    }

    /// QuickTime is older than its type box. A text may have such words too; the lengths before them cannot be text.
    private static func isOldQuickTime(_ header: HeaderBytes) -> Bool {
        var place = 0
        for _ in 0..<4 {
            guard let size = header.big(4, at: place), size < 0x0900_0000 else { return false }
            if header.holds("moov", at: place + 4) {
                return ["mvhd", "cmov", "rmra"].contains { (name: StaticString) in header.holds(name, at: place + 12) }
            }
            if header.holds("mdat", at: place + 4) { return size == 1 || size >= 8 }
            let isFiller = ["wide", "free", "skip"].contains { (name: StaticString) in header.holds(name, at: place + 4)
            }
            guard isFiller, size >= 8 else { return false }
            place += size
        }
        return false
    }
}
