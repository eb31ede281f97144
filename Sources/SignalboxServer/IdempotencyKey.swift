import HTTPTypes

/// The `Idempotency-Key` of a request, with or without the quotation marks of a structured field.
/// Source: draft-ietf-httpapi-idempotency-key-header-07
struct IdempotencyKey: Equatable {
    let text: String

    /// Nil when there is none.
    init?(_ headers: HTTPFields) throws(Problem) {
        guard let name = HTTPField.Name("idempotency-key"), let value = headers[name] else { return nil }
        let isQuoted = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
        text = isQuoted ? String(value.dropFirst().dropLast()) : value
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badIdempotencyKey
        }
    }
}
