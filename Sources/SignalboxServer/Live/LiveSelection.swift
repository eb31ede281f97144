import SignalboxConfig
import SignalboxGateway
import SignalboxRouting

/// The request of one reader of the live view.
package struct LiveSelection: Sendable {
    /// The occurrences that it receives.
    var kinds = Set(RecentEntry.Kind.allCases)
    /// Whether it receives counts once a second.
    var hasStats = true
    /// Selects events; nil for all.
    var filter: StreamFilter?
    /// Frames a second, without gaps and counts.
    var rate = Self.highestRate
    /// Whether texts of notifications are hidden.
    var hidesContent = false

    /// Frames a second; the default and the upper bound of the parameter `rate`.
    static let highestRate = 20
    /// The largest pattern in bytes.
    private static let longestPattern = 8 * 1024
    /// The word of counts among the types.
    private static let stats = "stats"
    /// The words of the parameter `types`.
    package static let types = RecentEntry.Kind.allCases.map(\.rawValue) + [stats]

    /// The parameters of `GET /v1/stream`. Their texts are part of docs/reference/http.md.
    static let parameters: [QueryParameter] = [
        QueryParameter("pattern", .text, "An event pattern as JSON; only events that match"),
        QueryParameter("types", .text, "Some of `\(types.joined(separator: "`, `"))`, with commas; default all"),
        QueryParameter("rate", .whole(1...highestRate), "The most frames a second; default \(highestRate)"),
    ]

    /// Every kind at the highest rate, with content. For tests and as the base of ``init(_:)``.
    init() {}

    /// Throws 400 for an invalid parameter, and ``Problem/contentHidden`` for a pattern of a token that may not read
    /// content: its matches would reveal texts.
    init(_ call: Call) throws(Problem) {
        hidesContent = call.hidesContent
        rate = try call.number("rate", in: 1...Self.highestRate) ?? Self.highestRate
        if let text = call.query("types") {
            let words = Set(text.split(separator: ",").map(String.init))
            guard !words.isEmpty, words.isSubset(of: Self.types) else {
                throw .badQuery("types is \(text.prefix(200)): write some of \(Self.types.joined(separator: ",")).")
            }
            kinds = kinds.filter { words.contains($0.rawValue) }
            hasStats = words.contains(Self.stats)
        }
        guard let text = call.query("pattern") else { return }
        if hidesContent { throw .contentHidden }
        filter = StreamFilter(try Self.pattern(text))
    }

    /// Throws 400 `pattern-invalid` with the pointer of the first mistake; the pointer is empty if the text is too
    /// long.
    private static func pattern(_ text: String) throws(Problem) -> Pattern {
        guard text.utf8.count <= longestPattern else {
            throw .pattern("The pattern has more than \(longestPattern) bytes: shorten it.", at: "")
        }
        do throws(InvalidConfig) {
            return try Pattern(text: Array(text.utf8))
        } catch {
            let mistake = error.firstError
            throw .badPattern(mistake.message, at: mistake.pointer, mistake.position)
        }
    }

    /// Whether the reader receives an entry of its kinds.
    func selects(_ entry: RecentEntry) -> Bool {
        guard let filter, case .event(let event) = entry.item else { return true }
        return filter.matches(event.body)
    }
}
