import SignalboxGateway

/// The coding of a request body (RFC 9110, 8.4).
enum ContentCoding: Equatable, Sendable {
    case identity, gzip, unknown

    init(_ request: ProviderRequest) {
        switch request.header("content-encoding")?.lowercased() {
        case nil, "", "identity": self = .identity
        case "gzip", "x-gzip": self = .gzip
        default: self = .unknown
        }
    }

    /// The content of a body; nil if the coding is unknown, the body is damaged, or the content is larger than `limit`
    /// bytes. Decompresses no more than that.
    func decode(_ body: [UInt8], upTo limit: Int) -> [UInt8]? {
        switch self {
        case .identity: body
        case .unknown: nil
        case .gzip: try? Decompression.gunzip(body, upTo: limit)
        }
    }
}
