import SignalboxJSON

/// A gateway's result for one payload, as a client of its HTTP API reads it. The field names are those of
/// docs/reference/http.md.
package enum Receipt: Sendable, Equatable {
    /// The payload became an event. `isRepeat`: the gateway had it already.
    case taken(vendor: String, routes: [String], warnings: [String], isRepeat: Bool)
    /// `code`: a stable code of docs/reference/errors.md. `message`: a sentence for people.
    case rejected(code: String, message: String)

    /// Nil if the object is neither a receipt nor an item with an `error`.
    fileprivate init?(_ value: JSONValue) {
        if let error = value["error"] {
            guard let code = error["code"]?.string else { return nil }
            self = .rejected(code: code, message: error["detail"]?.string ?? ReceiptList.unexplained)
            return
        }
        guard value["id"]?.isString == true, let vendor = value["vendor"]?.string else { return nil }
        self = .taken(
            vendor: vendor, routes: value["routes"]?.elements.compactMap(\.string) ?? [],
            warnings: value["warnings"]?.elements.compactMap(\.string) ?? [],
            isRepeat: value["duplicate"]?.bool == true)
    }
}

/// The body of a gateway's reply to a request of payloads: their receipts, or a problem (RFC 9457).
package struct ReceiptList: Sendable {
    /// One for each payload, in their order; nil for an item that is not a receipt. One nil for any other body.
    package let receipts: [Receipt?]
    /// The stable code of a problem.
    package let code: String?
    /// The sentence of a problem.
    package let detail: String?

    fileprivate static let unexplained = "The gateway rejected this payload."

    /// Reads any bytes; of a body that is not JSON, every field is empty.
    package init(_ body: [UInt8]) {
        let parser = JSONParser()
        let root = try? parser.parse(body)
        let list = root?["items"].flatMap { $0.isArray ? $0.elements.map { Receipt($0) } : nil }
        receipts = list ?? [root.flatMap { Receipt($0) }]
        code = root?["code"]?.string
        detail = root?["detail"]?.string
        withExtendedLifetime(parser) {}
    }

    /// The result of the only payload of a request that was rejected because of it; nil for other problems.
    package var rejection: Receipt? {
        guard let code, code.hasPrefix("payload-") else { return nil }
        return .rejected(code: code, message: detail ?? Self.unexplained)
    }
}
