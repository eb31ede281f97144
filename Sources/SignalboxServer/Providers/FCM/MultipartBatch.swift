import Foundation

/// The body of a batch: `multipart/mixed`, with a request in each part (`application/http`).
/// Source: firebase.google.com, "Send messages to multiple devices", the batch of firebase-admin-java's `sendAll`.
struct MultipartBatch: Sendable {
    /// One request of a batch.
    struct Part: Sendable, Equatable {
        /// `content-id`; empty without one.
        let id: String
        /// As sent, not checked.
        let method: String
        /// Without scheme, host and query.
        let path: String
        /// Without the line end before the boundary.
        let body: [UInt8]
    }

    /// The most requests of a batch.
    static let mostParts = 500
    /// The most bytes of a batch.
    static let limit = 8 * 1024 * 1024

    /// In order; nil for a part that is not an HTTP request.
    let parts: [Part?]

    /// The boundary of a content type. Throws for another type and for an invalid boundary (RFC 2046, 5.1.1).
    static func boundary(_ contentType: String?) throws(GoogleError) -> String {
        let parts = (contentType ?? "").split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        let parameter = parts.dropFirst().first { $0.lowercased().hasPrefix("boundary=") }
        let boundary = parameter.map { $0.dropFirst(9).trimmingCharacters(in: ["\""]) } ?? ""
        guard parts.first?.lowercased() == "multipart/mixed", (1...70).contains(boundary.utf8.count) else {
            throw GoogleError(
                status: .invalidArgument, message: "Failed to parse batch request, error: invalid boundary.")
        }
        return boundary
    }

    /// Throws for a body without a part, without the last boundary, and with too many parts.
    init(_ body: [UInt8], boundary: String) throws(GoogleError) {
        let delimiter = Array("--\(boundary)".utf8)
        var parts: [Part?] = []
        var start: Int?
        var isEnded = false
        for line in Lines(of: body) where !isEnded && body[line].starts(with: delimiter) {
            let rest = body[line].dropFirst(delimiter.count).filter { ![0x20, 0x09, 0x0D].contains($0) }
            guard rest.isEmpty || rest.elementsEqual("--".utf8) else { continue }
            if let start { parts.append(Self.part(body[start..<max(start, line.lowerBound)])) }
            (start, isEnded) = (line.upperBound + 1, !rest.isEmpty)
            guard parts.count <= Self.mostParts else {
                throw GoogleError(
                    status: .invalidArgument,
                    message: "The batch request could not be processed: it has more than "
                        + "\(Self.mostParts) parts.")
            }
        }
        guard isEnded, !parts.isEmpty else {
            throw GoogleError(
                status: .invalidArgument, message: "Failed to parse batch request, error: no end of the last part.")
        }
        self.parts = parts
    }

    /// Headers of the part, an empty line, the request line and headers of the request, an empty line, the body. Nil if
    /// a head has no end, or the request line does not have three parts.
    private static func part(_ bytes: ArraySlice<UInt8>) -> Part? {
        guard let (outer, request) = head(bytes), let (inner, content) = head(request) else { return nil }
        let line = (inner.first ?? "").split(separator: " ")
        guard line.count == 3, line[2].hasPrefix("HTTP/") else { return nil }
        let id = outer.first { $0.lowercased().hasPrefix("content-id:") }?.dropFirst(11)
        // The line end before the boundary belongs to the boundary.
        var body = content
        if body.last == 0x0A { body.removeLast() }
        if body.last == 0x0D { body.removeLast() }
        return Part(
            id: String((id ?? "").trimmingCharacters(in: .whitespaces).prefix(200)), method: String(line[0]),
            path: path(line[1]), body: Array(body))
    }

    /// The path of a request target. Java's client writes the whole URL (absolute form, RFC 9112, 3.2.2).
    private static func path(_ target: Substring) -> String {
        var target = target
        for scheme in ["https://", "http://"] where target.lowercased().hasPrefix(scheme) {
            target = target.dropFirst(scheme.count).drop { $0 != "/" }
            break
        }
        return String(target.prefix { $0 != "?" })
    }

    /// The lines up to the first empty one, and the rest. Nil without an empty line, and for more than 50 lines.
    private static func head(_ bytes: ArraySlice<UInt8>) -> (lines: [String], rest: ArraySlice<UInt8>)? {
        var lines: [String] = []
        for line in Lines(of: bytes) {
            let text = String(decoding: bytes[line], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty else { return (lines, bytes[min(line.upperBound + 1, bytes.endIndex)...]) }
            guard lines.count < 50 else { return nil }
            lines.append(text)
        }
        return nil
    }

    /// The ranges of the lines of a text, without their line ends.
    private struct Lines: Sequence, IteratorProtocol {
        private let bytes: ArraySlice<UInt8>
        private var cursor: Int

        init(of bytes: [UInt8]) { self.init(of: bytes[...]) }

        init(of bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            cursor = bytes.startIndex
        }

        mutating func next() -> Range<Int>? {
            guard cursor < bytes.endIndex else { return nil }
            let end = bytes[cursor...].firstIndex(of: 0x0A) ?? bytes.endIndex
            defer { cursor = end + 1 }
            return cursor..<end
        }
    }
}
