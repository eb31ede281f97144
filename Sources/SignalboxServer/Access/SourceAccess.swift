package import SignalboxNotification

/// Decides which source a request speaks for. An immutable value: a new config brings a new one.
package struct SourceAccess: Sendable {
    private let tokens: [(value: SourceName, token: [UInt8])]
    /// True when no request needs a token. Not the same as a list without tokens: the sources of a config may have
    /// identities at provider endpoints only.
    package let isOpen: Bool
    private let explaining: Set<SourceName>

    /// Accepts any source without a token, from this machine only. For a gateway that listens on loopback. Requests
    /// from pages of other sites, or for another host name, are rejected.
    package static let open = SourceAccess(tokens: [], isOpen: true, explaining: [])

    /// Accepts requests with one of a source's tokens. There must be at least one source; a source without tokens
    /// cannot use the endpoints for sources. `explaining`: those that may read explanations of in-app decisions.
    package init(_ sources: [SourceName: [String]], explaining: Set<SourceName> = []) {
        precondition(!sources.isEmpty, "Without sources, access is open.")
        self.init(
            tokens: sources.flatMap { source, tokens in tokens.map { (source, Array($0.utf8)) } }, isOpen: false,
            explaining: explaining)
    }

    private init(tokens: [(SourceName, [UInt8])], isOpen: Bool, explaining: Set<SourceName>) {
        self.tokens = tokens
        self.isOpen = isOpen
        self.explaining = explaining
    }

    /// Whether the answers to a source's devices may have explanations, which tell what a user has seen. With open
    /// access, every client is an operator on this machine.
    func mayExplain(_ source: SourceName) -> Bool { isOpen || explaining.contains(source) }

    /// The source whose token a request presents; nil if it presents none. Does not know open access.
    func owner(of request: Credentials) -> SourceName? { request.granted(of: tokens).first }

    /// The source of a request: the one that its path names, or the one of its token. With tokens, the path must name
    /// the source of the token. Without, a path may name any source with a valid name.
    func source(named name: String?, of request: Credentials) throws(Problem) -> SourceName {
        guard isOpen else {
            let granted = request.granted(of: tokens).first { name == nil || name == $0.name }
            guard let granted else { throw .unauthorized }
            return granted
        }
        guard request.isFromThisMachine else { throw .foreignPage }
        guard let name else { return .default }
        guard NameRule.allows(name) else { throw .notFound("/v1/sources/\(name)/notifications") }
        return SourceName(name)
    }
}

// Shows no token, however it is printed.
extension SourceAccess: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { isOpen ? "open" : "\(Set(tokens.map(\.value)).count) sources" }
    package var debugDescription: String { description }
}
