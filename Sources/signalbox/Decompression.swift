import CZlib
import CZstd

/// Opens compressed input as it streams through: gzip (also several members one after another) and Zstandard, known by
/// their first bytes, so that standard input needs no name. Anything else passes as it is.
struct Decompression: ~Copyable {
    private enum Format { case plain, gzip, zstd }

    /// Compressed input that ends too early, or is none after its first bytes.
    struct Damaged: Error {}

    private let format: Format
    // On the heap: zlib remembers where its stream lies and refuses one that was moved.
    private let inflate: UnsafeMutablePointer<z_stream>?
    private let zstd: OpaquePointer?
    /// True where the input may end.
    private var isComplete = true

    /// `start`: the first bytes of the input, four where there are as many.
    init(start: UnsafeRawBufferPointer) {
        if start.starts(with: [0x1F, 0x8B]) {
            format = .gzip
            zstd = nil
            let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
            stream.initialize(to: z_stream())
            // 15 is the largest window; 16 more asks for gzip's header.
            guard sb_inflate_init(stream, 15 + 16) == Z_OK else { preconditionFailure("No memory for zlib.") }
            inflate = stream
        } else if start.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
            format = .zstd
            inflate = nil
            zstd = ZSTD_createDStream()
            precondition(zstd != nil, "No memory for libzstd.")
        } else {
            format = .plain
            inflate = nil
            zstd = nil
        }
    }

    deinit {
        inflateEnd(inflate)
        inflate?.deallocate()
        ZSTD_freeDStream(zstd)
    }

    /// Whether the input goes through as it is.
    var isPlain: Bool { format == .plain }

    /// Fills `output` from `input`, as far as either goes. Returns how many bytes of each were used.
    mutating func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Damaged) -> (taken: Int, given: Int) {
        switch format {
        case .plain: preconditionFailure("Plain input is not decoded.")
        case .gzip:
            guard let inflate else { preconditionFailure("A gzip decoder has its stream.") }
            return try decodeGzip(input, into: output, with: &inflate.pointee)
        case .zstd: return try decodeZstd(input, into: output)
        }
    }

    /// Opens a whole gzip text. Fails with ``Damaged``, also when there would be more than `limit` bytes.
    static func gunzip(_ bytes: [UInt8], upTo limit: Int) throws -> [UInt8] {
        guard bytes.starts(with: [0x1F, 0x8B]) else { throw Damaged() }
        return try bytes.withUnsafeBytes { bytes in
            var decompression = Decompression(start: bytes)
            var opened: [UInt8] = []
            var place = 0
            try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { piece in
                while true {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
                    let (taken, given) = try decompression.decode(rest, into: piece)
                    opened += piece[..<given]
                    place += taken
                    guard opened.count <= limit else { throw Damaged() }
                    if place == bytes.count, given < piece.count { return }
                }
            }
            try decompression.finish()
            return opened
        }
    }

    /// Says that the input has ended.
    func finish() throws(Damaged) {
        if !isComplete { throw Damaged() }
    }

    private mutating func decodeGzip(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, with stream: inout z_stream
    ) throws(Damaged) -> (taken: Int, given: Int) {
        if isComplete, !input.isEmpty {
            inflateReset(&stream)
            isComplete = false
        }
        stream.next_in = UnsafeMutablePointer(mutating: input.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
        stream.avail_out = UInt32(output.count)
        let status = CZlib.inflate(&stream, Z_NO_FLUSH)
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { throw Damaged() }
        isComplete = status == Z_STREAM_END
        return (input.count - Int(stream.avail_in), output.count - Int(stream.avail_out))
    }

    private mutating func decodeZstd(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Damaged) -> (taken: Int, given: Int) {
        // Between two frames libzstd would ask for the next one.
        if isComplete, input.isEmpty { return (0, 0) }
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let left = ZSTD_decompressStream(zstd, &target, &source)
        guard ZSTD_isError(left) == 0 else { throw Damaged() }
        isComplete = left == 0
        return (source.pos, target.pos)
    }
}
