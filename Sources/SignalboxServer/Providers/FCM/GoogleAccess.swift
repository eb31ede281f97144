import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxNotification

/// Decides which source a request to Google's endpoints speaks for, and which projects the source may use. An immutable
/// value: a new config brings a new one.
struct GoogleAccess: Sendable {
    /// The public key of a configured service account.
    struct Account: Sendable {
        let source: SourceName
        let key: RSAPublicKey
    }

    /// Tokens of sources, which are accepted here too; open without sources.
    let sources: SourceAccess
    /// By e-mail address and key id, which assertions name.
    let accounts: [ServiceAccountKey: Account]
    /// Server keys of the legacy protocol.
    private let serverKeys: [(value: SourceName, token: [UInt8])]
    /// The owner of each project: two sources cannot list the same one.
    private let projects: [String: SourceName]
    /// Sources that list projects.
    private let owners: Set<SourceName>
    private let tokens: GrantedTokens

    /// `projects`: the projects and their owners. `tokens`: verifies access tokens.
    init(
        sources: SourceAccess, accounts: [ServiceAccountKey: Account],
        serverKeys: [(value: SourceName, token: [UInt8])], projects: [String: SourceName], tokens: GrantedTokens
    ) {
        self.sources = sources
        self.accounts = accounts
        self.serverKeys = serverKeys
        self.projects = projects
        self.tokens = tokens
        owners = Set(projects.values)
    }

    /// The source of a request. Without sources, any credential is accepted, from this machine only. Otherwise throws
    /// 401 unless the request has an access token of a service account, a token of a source, or a server key. Throws
    /// 403 for a source that may not send notifications, and, without sources, for a client on another machine.
    func source(of request: ProviderRequest, at now: Date) throws(GoogleError) -> SourceName {
        let credentials = Credentials(request)
        guard !sources.isOpen else {
            guard !credentials.isForwarded else { throw .forwardedOpen }
            guard request.connection.isLoopback, credentials.isFromThisMachine || request.namesPushService else {
                throw .foreignPage
            }
            return .default
        }
        guard let authorization = credentials.authorization else { throw .unauthenticated(.missing) }
        if let key = Self.serverKey(authorization) {
            guard let source = Self.owner(of: key, serverKeys) else { throw .unauthenticated(.unsupported) }
            return source
        }
        if let source = sources.owner(of: credentials) {
            guard sources.may(source, .notifications) else { throw .sourceForbidden }
            return source
        }
        let token = authorization.split(separator: " ", maxSplits: 1).last.map { $0.drop { $0 == " " } } ?? ""
        if let account = tokens.account(of: String(token), at: now), let source = accounts[account]?.source {
            return source
        }
        throw .unauthenticated(GrantedTokens.mayBeGranted(String(token)) ? .expired : .unsupported)
    }

    /// The source that lists a project; nil if none does.
    func owner(of project: String) -> SourceName? { projects[project] }

    /// Throws ``GoogleError/senderIDMismatch`` for a project of another source, and for one that a source with projects
    /// of its own does not list.
    func check(_ project: String, of source: SourceName) throws(GoogleError) {
        guard !sources.isOpen else { return }
        if let owner = projects[project] {
            guard owner == source else { throw .senderIDMismatch }
        } else if owners.contains(source) {
            throw .senderIDMismatch
        }
    }

    /// The value of `authorization: key=…`, the form of the legacy protocol. Nil for another scheme.
    private static func serverKey(_ authorization: String) -> [UInt8]? {
        guard authorization.prefix(4).lowercased() == "key=" else { return nil }
        return Array(authorization.dropFirst(4).trimmingCharacters(in: .whitespaces).utf8)
    }

    /// Compares all keys, in constant time.
    private static func owner(of key: [UInt8], _ keys: [(value: SourceName, token: [UInt8])]) -> SourceName? {
        keys.filter { equalInConstantTime($0.token, key) }.map(\.value).first
    }
}

// Shows no key, however it is printed.
extension GoogleAccess: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { "\(accounts.count) service accounts, \(serverKeys.count) server keys" }
    var debugDescription: String { description }
}

extension Credentials {
    init(_ request: ProviderRequest) {
        self.init(
            authority: request.authority, origin: request.header("origin"),
            authorization: request.header("authorization"), isForwarded: request.isForwarded)
    }
}

extension ProviderRequest {
    /// Whether a proxy sent the request on; see ``Credentials/isForwarded``.
    var isForwarded: Bool {
        headers.contains { field in
            switch field.name.utf8.count {
            // Most fields have another length, and every push is checked.
            case 3, 9, 15: Credentials.forwardingFields.contains(field.name)
            default: false
            }
        }
    }

    /// True for a request that a client sends to a push service, whose name leads to this machine. An attacker cannot
    /// make such a name lead here, so this is not DNS rebinding. False for a request of a browser's page.
    fileprivate var namesPushService: Bool {
        guard header("origin") == nil else { return false }
        return ProviderHost.isNamed(by: authority, of: [.google])
    }
}
