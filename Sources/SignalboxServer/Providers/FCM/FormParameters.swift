import Foundation

/// The parameters of a form or of a query (`application/x-www-form-urlencoded`, URL Standard, 5.1).
struct FormParameters: Sendable {
    /// In the order of the text, decoded.
    let all: [(name: String, value: String)]

    /// The most parameters; further ones are ignored.
    private static let most = 1000

    /// A parameter without `=` has an empty value. Invalid UTF-8 is replaced.
    init(_ text: some Sequence<UInt8>) {
        all = String(decoding: Array(text), as: UTF8.self).split(separator: "&", maxSplits: Self.most)
            .prefix(Self.most).map { parameter in
                let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (Self.decode(parts[0]), parts.count == 2 ? Self.decode(parts[1]) : "")
            }
    }

    /// The query of a request; empty without one.
    init(queryOf request: ProviderRequest) { self.init((request.query ?? "").utf8) }

    /// The first value of a name. Nil if it is absent.
    subscript(_ name: String) -> String? { all.first { $0.name == name }?.value }

    /// Returns text with invalid escapes unchanged.
    private static func decode(_ text: Substring) -> String {
        let spaced = text.replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? String(spaced)
    }
}
