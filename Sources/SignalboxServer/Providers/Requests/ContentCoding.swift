import SignalboxGateway

/// The coding of a request body (RFC 9110, 8.4).
enum ContentCoding: Equatable, Sendable {
    /// `x-gzip` is gzip (RFC 9110, 8.4.1.3). Several codings in a row are unknown.
    case identity, gzip, unknown

    /// Why a body cannot be opened.
    enum Failure: Error {
        /// The coding is unknown, the body is damaged, or its content is larger than the limit.
        case damaged
        /// The memory for contents, or the share of its holder, is exhausted; the same request may succeed later.
        case busy
    }

    /// The content of a body. Counts for the memory of contents until its last reference ends.
    struct Content: Sendable {
        let bytes: [UInt8]
        /// Nil for a body that was not compressed, which the memory for bodies counts.
        fileprivate let memory: ContentMemory.Reservation?
    }

    init(_ request: ProviderRequest) {
        switch request.header("content-encoding")?.lowercased() {
        case nil, "", "identity": self = .identity
        case "gzip", "x-gzip": self = .gzip
        default: self = .unknown
        }
    }

    /// The content of a body, of at most `limit` bytes. Decompresses no more than that. A large content takes too long
    /// for an event loop. `holder`: of the memory. Reserves `limit` bytes while it decompresses, then as many as the
    /// content has.
    func decode(
        _ body: [UInt8], upTo limit: Int, in memory: ContentMemory, for holder: BodyHolder
    ) throws(Failure) -> Content {
        switch self {
        case .identity: return Content(bytes: body, memory: nil)
        case .unknown: throw .damaged
        case .gzip:
            guard let reservation = memory.reserve(limit, for: holder) else { throw .busy }
            guard let bytes = try? Decompression.gunzip(body, upTo: limit) else { throw .damaged }
            reservation.shrink(to: bytes.count)
            return Content(bytes: bytes, memory: reservation)
        }
    }
}
