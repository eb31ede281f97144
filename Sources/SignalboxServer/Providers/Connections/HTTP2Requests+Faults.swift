import NIOCore
import NIOHPACK
import NIOHTTP2

// Faults of failure rules.
extension HTTP2Requests {
    /// Permits one stream at a time from now on. Streams in progress are answered. The limit is announced and not
    /// enforced: a client that begins more streams is still served.
    func narrow() {
        isNarrow = true
        announce(streams: 1)
    }

    /// Permits as many streams as at the start.
    func widen() {
        isNarrow = false
        announce(streams: serving.limits.streams)
    }

    /// Sends SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113, 6.5.2), which has effect once the client has read it.
    private func announce(streams: Int) {
        write(.settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: streams)])), on: .rootStream)
    }

    /// Writes the head and half of the body of a response, then closes the connection, with all its requests. Does not
    /// end TLS first, because that waits up to 5 s for the client.
    func cut(_ id: HTTP2StreamID, _ headers: HPACKHeaders, _ body: [UInt8]) {
        write(.headers(.init(headers: headers, endStream: false)), on: id)
        let half = body.prefix(body.count / 2)
        if !half.isEmpty { write(.data(.init(data: .byteBuffer(ByteBuffer(bytes: half)), endStream: false)), on: id) }
        flush()
        isClosing = true
        context?.closeAtOnce()
    }
}
