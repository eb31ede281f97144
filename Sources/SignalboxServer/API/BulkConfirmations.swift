import Foundation
import SignalboxEgress
import SignalboxStore

/// Makes and checks the tokens that confirm bulk changes. A token says what its preview showed; nothing is stored.
///
/// Tokens are authenticated by HMAC-SHA256 under a key that gateways with the same store share.
struct BulkConfirmations: Sendable {
    /// How long a token is valid.
    static let lifetime: TimeInterval = 300

    /// Derived from a secret of the store, so a token of another store is rejected.
    private let key: MessageAuthentication
    private let now: @Sendable () -> Date

    /// `now`: the clock of the store, which dates previews.
    init(key: [UInt8], now: @escaping @Sendable () -> Date) {
        self.key = MessageAuthentication(key: key)
        self.now = now
    }

    /// The statements of a token about its preview.
    struct Statements: Sendable, Equatable {
        /// The largest number of a delivery in the preview; 0 for an empty one. Deliveries after it are not changed.
        let through: Int64
        /// Deliveries in the preview. A run spreads its due times by this number.
        let count: Int
        /// Milliseconds since 1970, by the clock of the store.
        let at: Int64

        /// The time in the middle of its millisecond, so that rounding cannot move it into another one.
        var date: Date { Date(timeIntervalSince1970: (Double(at) + 0.5) / 1000) }
    }

    /// `conditions`: those of the filter, by name. The text of a token is `CHANGE.DIGEST.THROUGH.COUNT.AT.CODE`, where
    /// the digest is that of the conditions and the code covers all parts before it. ``PageCursor`` makes it fit for a
    /// URL.
    func token(for preview: BulkPreview, of change: BulkChange, _ conditions: [String: String]) -> String {
        let at = Int64((preview.at.timeIntervalSince1970 * 1000).rounded(.down))
        let statements = [preview.through, Int64(preview.count), at].map { String($0) }
        let text = ([change.rawValue, Self.digest(of: conditions)] + statements).joined(separator: ".")
        return PageCursor.text("\(text).\(code(of: text))", in: Self.list)
    }

    /// Throws ``Problem/confirmExpired`` for a token of another store, a changed one, and one that is too old, and
    /// ``Problem/confirmMismatch`` for the token of another preview. Takes the same time for every wrong code.
    func statements(
        of token: String, for change: BulkChange, _ conditions: [String: String]
    ) throws(Problem) -> Statements {
        let text = PageCursor.position(of: token, in: Self.list) ?? ""
        guard let end = text.lastIndex(of: ".") else { throw .confirmExpired }
        let signed = String(text[..<end])
        let given = Array(text[text.index(after: end)...].utf8)
        guard equalInConstantTime(Array(code(of: signed).utf8), given) else { throw .confirmExpired }
        let parts = signed.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst(2).compactMap { Int64($0) }
        guard parts.count == 5, numbers.count == 3 else { throw .confirmExpired }
        let statements = Statements(through: numbers[0], count: Int(numbers[1]), at: numbers[2])
        guard now().timeIntervalSince(statements.date) <= Self.lifetime else { throw .confirmExpired }
        guard parts[0] == change.rawValue, parts[1] == Self.digest(of: conditions) else { throw .confirmMismatch }
        return statements
    }

    /// Tells tokens from cursors.
    private static let list: StaticString = "bulk:"

    /// In hexadecimal, which has no full stop: that separates the parts of a token.
    private func code(of text: String) -> String { hexadecimal(key.authenticate(Array(text.utf8))) }

    /// Each name and value with its length, so that different conditions have different texts.
    private static func digest(of conditions: [String: String]) -> String {
        let text = conditions.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
            .map { "\($0.utf8.count):\($0)" }.joined()
        return hexadecimal(sha256(Array(text.utf8)))
    }
}
