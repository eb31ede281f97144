import Foundation
import SignalboxEgress
package import SignalboxNotification

/// Who may hand in payloads, and as which source.
package struct SourceAccess: Sendable {
    let tokens: [(source: SourceName, token: [UInt8])]

    /// Anybody, as any source: for a gateway that listens on loopback only.
    package static let open = SourceAccess(tokens: [])

    /// Those who know one of a source's tokens. None at all would lock everyone out, so there must be one.
    package init(_ sources: [SourceName: [String]]) {
        precondition(!sources.isEmpty, "Without sources, access is open.")
        self.init(tokens: sources.flatMap { source, tokens in tokens.map { (source, Array($0.utf8)) } })
    }

    private init(tokens: [(source: SourceName, token: [UInt8])]) { self.tokens = tokens }

    /// The source that a request speaks for: the one that its path names, or else the one whose token it bears. Every
    /// token is compared, in constant time, whatever the outcome.
    func source(named name: String?, authorization: String?) throws(Problem) -> SourceName {
        guard !tokens.isEmpty else {
            guard let name else { return .default }
            guard NameRule.allows(name) else { throw .notFound("/v1/sources/\(name)/notifications") }
            return SourceName(name)
        }
        let presented = bearerToken(authorization)
        var granted: SourceName?
        for (source, token) in tokens where equalInConstantTime(token, presented) {
            if name == nil || name == source.name { granted = granted ?? source }
        }
        guard let granted else { throw .unauthorized }
        return granted
    }
}

// However it gets printed, it shows no token.
extension SourceAccess: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { isOpen ? "open" : "\(Set(tokens.map(\.source.name)).count) sources" }
    package var debugDescription: String { description }
}
