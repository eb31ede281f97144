internal import CZlib

/// Compresses bytes for `content-encoding: gzip` (RFC 1952). Deterministic: the header has no time. Takes the whole
/// input at once; stops the process if zlib has no memory.
package func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    // At a fixed address: zlib stores the address of its stream and rejects one that was moved.
    return withUnsafeMutablePointer(to: &stream) { stream in
        precondition(sb_gzip_init(stream) == Z_OK, "No memory for zlib.")
        defer { deflateEnd(stream) }
        let bound = Int(deflateBound(stream, UInt(bytes.count)))
        return bytes.withUnsafeBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: bound) { output, count in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                // The output has room for the whole result.
                precondition(deflate(stream, Z_FINISH) == Z_STREAM_END, "zlib did not finish.")
                count = Int(stream.pointee.total_out)
            }
        }
    }
}
