/// The tag that stands before the frames of many MP3 files (ID3v2, section 3.1 of its structure).
struct ID3Tag {
    /// All of it, header and footer included.
    let bytes: Int

    /// Nil where none begins the file.
    init?(_ header: HeaderBytes) {
        guard header.holds("ID3"), let version = header[3], (2...4).contains(version), let flags = header[5] else {
            return nil
        }
        var size = 0
        for place in 6..<10 {
            guard let digit = header[place], digit < 0x80 else { return nil }
            size = size << 7 | Int(digit)
        }
        bytes = 10 + size + (flags & 0x10 != 0 ? 10 : 0)
    }
}
