package import SignalboxConfig
package import SignalboxNotification

/// Decides which source a request speaks for. An immutable value: a new config brings a new one.
package struct SourceAccess: Sendable {
    /// UTF-8 bytes. A source has one entry for each of its tokens, so that tokens can be rotated.
    private let tokens: [(value: SourceName, token: [UInt8])]
    /// True when no request needs a token. Not the same as a list without tokens: the sources of a config may have
    /// identities at provider endpoints only.
    package let isOpen: Bool
    /// Sources with the option `explain`.
    private let explaining: Set<SourceName>
    /// The rights of sources that do not have all.
    private let rights: [SourceName: Set<SourceRight>]

    /// Accepts any source without a token, from this machine only. For a gateway that listens on loopback. Requests
    /// from pages of other sites, for another host name, or through a proxy are rejected.
    package static let open = SourceAccess(tokens: [], isOpen: true, explaining: [], rights: [:])

    /// Accepts requests with one of a source's tokens. There must be at least one source; a source without tokens
    /// cannot use the endpoints for sources. `explaining`: those that may read explanations of in-app decisions.
    /// `rights`: of sources that do not have all.
    package init(
        _ sources: [SourceName: [String]], explaining: Set<SourceName> = [],
        rights: [SourceName: Set<SourceRight>] = [:]
    ) {
        precondition(!sources.isEmpty, "Without sources, access is open.")
        self.init(
            tokens: sources.flatMap { source, tokens in tokens.map { (source, Array($0.utf8)) } }, isOpen: false,
            explaining: explaining, rights: rights)
    }

    private init(
        tokens: [(SourceName, [UInt8])], isOpen: Bool, explaining: Set<SourceName>,
        rights: [SourceName: Set<SourceRight>]
    ) { (self.tokens, self.isOpen, self.explaining, self.rights) = (tokens, isOpen, explaining, rights) }

    /// Whether the answers to a source's devices may have explanations, which tell what a user has seen. With open
    /// access, every client is an operator on this machine.
    func mayExplain(_ source: SourceName) -> Bool { isOpen || explaining.contains(source) }

    /// Whether the clients of a source have a right. True for a source whose config has no `may`.
    func may(_ source: SourceName, _ right: SourceRight) -> Bool { rights[source]?.contains(right) ?? true }

    /// The source whose token a request presents; nil if it presents none. Does not know open access. Does not check
    /// rights.
    func owner(of request: Credentials) -> SourceName? { request.granted(of: tokens).first }

    /// The source of a request: the one that its path names, or the one of its token. With tokens, the path must name
    /// the source of the token. Without, a path may name any source with a valid name. Throws
    /// ``Problem/sourceForbidden(_:_:)`` for a source without the right. Throws 401 without a valid token; with open
    /// access 403 for a request that did not begin on this machine, and 404 for an invalid name.
    func source(named name: String?, of request: Credentials, for right: SourceRight) throws(Problem) -> SourceName {
        guard isOpen else {
            let granted = request.granted(of: tokens).first { name == nil || name == $0.name }
            guard let granted else { throw .unauthorized }
            guard may(granted, right) else { throw .sourceForbidden(granted, right) }
            return granted
        }
        guard !request.isForwarded else { throw .forwardedOpen }
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
