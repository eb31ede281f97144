import Foundation

/// Reads pieces of a file that nobody vouches for: each of a bounded size, and not more of them than ``limit``.
struct MediaReader {
    enum Source {
        /// An open file, of which the place is not moved.
        case file(Int32)
        case memory([UInt8])
    }

    /// Of the file.
    let length: Int
    private let source: Source
    private var pieces = 0

    /// How many pieces of one file are read. Files that are made to be walked through without end, end here.
    static let limit = 4000
    /// Of a piece.
    private static let longest = 8192

    init(_ source: Source, length: Int) {
        self.source = source
        self.length = length
    }

    /// The bytes at a place: fewer where the file ends, none beyond it or when enough was read. `count`: at most 8192.
    mutating func read(_ count: Int, at place: Int) throws(MediaError) -> HeaderBytes {
        precondition(count <= Self.longest, "Pieces of files are small.")
        guard pieces < Self.limit, place >= 0, place < length else { return HeaderBytes([]) }
        pieces += 1
        let count = min(count, length - place)
        switch source {
        case .memory(let bytes): return HeaderBytes(Array(bytes.dropFirst(place).prefix(count)))
        case .file(let file): return HeaderBytes(try Self.read(count, at: place, of: file))
        }
    }

    private static func read(_ count: Int, at place: Int, of file: Int32) throws(MediaError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var length = 0
        while length < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(file, buffer.baseAddress.map { $0 + length }, count - length, off_t(place + length))
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw .lastError }
            if read == 0 { break }
            length += read
        }
        return Array(bytes.prefix(length))
    }
}
