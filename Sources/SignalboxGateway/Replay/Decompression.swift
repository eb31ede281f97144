internal import CZlib
internal import CZstd

/// Decompresses a stream: gzip, including several members, and Zstandard. It recognises them by their first bytes, so
/// that standard input needs no file name. Other input is not changed. It owns the state of zlib or libzstd; a value
/// decodes one stream.
package struct Decompression: ~Copyable {
    /// Decided by the first bytes and fixed afterwards.
    private enum Format { case plain, gzip, zstd }

    /// Compressed input that is cut off or invalid. The caller adds the name of the input.
    package struct Damaged: Error {
        /// Whether the input is valid, but needs more than the 128 MiB of memory that libzstd permits by default.
        package var isWindowTooLarge = false
    }

    private let format: Format
    // On the heap: zlib stores the address of its stream and rejects one that was moved.
    private let inflate: UnsafeMutablePointer<z_stream>?
    private let zstd: OpaquePointer?
    /// True if the input may end here.
    private var isComplete = true
    /// Whether only zeros may follow.
    private var isPadding = false

    /// `start`: the first four bytes of the input, or all of a shorter input. Stops the process if the library has no
    /// memory. Bytes of `start` are not consumed: pass them to ``decode(_:into:)`` too.
    init(start: UnsafeRawBufferPointer) {
        if start.starts(with: [0x1F, 0x8B]) {
            format = .gzip
            zstd = nil
            let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
            stream.initialize(to: z_stream())
            // 15 is the largest window; adding 16 selects the gzip header.
            guard sb_inflate_init(stream, 15 + 16) == Z_OK else { preconditionFailure("No memory for zlib.") }
            inflate = stream
        } else if Self.isZstd(start) {
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

    /// Whether a frame of Zstandard begins here, or a skippable one, as pzstd writes before each frame (RFC 8878, 3.1).
    private static func isZstd(_ start: UnsafeRawBufferPointer) -> Bool {
        if start.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return true }
        return start.count >= 4 && start[0] & 0xF0 == 0x50 && start.dropFirst().starts(with: [0x2A, 0x4D, 0x18])
    }

    deinit {
        inflateEnd(inflate)
        inflate?.deallocate()
        ZSTD_freeDStream(zstd)
    }

    /// True if the input is not compressed. The caller then passes the input on itself and does not call
    /// ``decode(_:into:)``.
    var isPlain: Bool { format == .plain }

    /// Fills `output` from `input` until one of them ends. Returns the number of bytes used of each. Throws
    /// ``Damaged`` for invalid data. Call it with empty input to get output that is still buffered. Neither buffer is
    /// used after the call. A call that uses and fills no byte needs more input.
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

    /// Decompresses a complete gzip text. Throws ``Damaged`` for damaged text, and for a result of more than `limit`
    /// bytes. The input must begin with the signature of gzip. Memory is bounded by `limit` and one piece of 64 KiB.
    package static func gunzip(_ bytes: [UInt8], upTo limit: Int) throws -> [UInt8] {
        guard bytes.starts(with: [0x1F, 0x8B]) else { throw Damaged() }
        return try bytes.withUnsafeBytes { bytes in
            var decompression = Decompression(start: bytes)
            var opened: [UInt8] = []
            var offset = 0
            try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { piece in
                while true {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                    let (taken, given) = try decompression.decode(rest, into: piece)
                    opened += piece[..<given]
                    offset += taken
                    guard opened.count <= limit else { throw Damaged() }
                    if offset == bytes.count, given < piece.count { return }
                }
            }
            try decompression.finish()
            return opened
        }
    }

    /// Ends the input. Throws if it is cut off. Call it after all input has been decoded. Plain input is always
    /// complete.
    func finish() throws(Damaged) {
        if !isComplete { throw Damaged() }
    }

    /// Begins the next member when one has ended and input is left (RFC 1952, 2.2). Ignores zeros after the last
    /// member, with which tapes and block devices fill their blocks; GNU gzip does the same. Other bytes are damage.
    private mutating func decodeGzip(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, with stream: inout z_stream
    ) throws(Damaged) -> (taken: Int, given: Int) {
        if isComplete, let first = input.first {
            if isPadding || first == 0 {
                guard input.allSatisfy({ $0 == 0 }) else { throw Damaged() }
                isPadding = true
                return (input.count, 0)
            }
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

    /// Frames follow each other without a signal to the caller.
    private mutating func decodeZstd(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Damaged) -> (taken: Int, given: Int) {
        // Between two frames, libzstd would expect the next one.
        if isComplete, input.isEmpty { return (0, 0) }
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let left = ZSTD_decompressStream(zstd, &target, &source)
        guard ZSTD_isError(left) == 0 else {
            let code = ZSTD_getErrorCode(left)
            throw Damaged(isWindowTooLarge: code == ZSTD_error_frameParameter_windowTooLarge)
        }
        isComplete = left == 0
        return (source.pos, target.pos)
    }
}
