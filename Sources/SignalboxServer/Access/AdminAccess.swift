import HTTPTypes
package import SignalboxConfig

/// Decides which requests may read and change the queue, and in whose name. Tokens of sources do not count.
package struct AdminAccess: Sendable {
    /// UTF-8 bytes, for comparisons in constant time.
    private let tokens: [(value: Operator, token: [UInt8])]
    /// Has an effect only while ``tokens`` is empty.
    private let isOpen: Bool

    /// `tokens`: each of them grants access. `isOpen`: without tokens, requests from this machine have access; for a
    /// gateway that listens on loopback and accepts payloads without a token. Otherwise no request has access, because
    /// behind a proxy all requests seem to come from this machine.
    package init(tokens: [SecretResolver.OperatorToken], isOpen: Bool) {
        self.tokens = tokens.map { (Operator($0), Array($0.text.utf8)) }
        self.isOpen = isOpen
    }

    /// The operator that makes a request. Throws ``Problem/adminUnauthorized`` without a valid token,
    /// ``Problem/adminClosed`` when the config grants access to no request, and ``Problem/foreignPage`` or
    /// ``Problem/forwardedOpen`` for a request that did not begin on this machine.
    func actor(of head: HTTPRequest) throws(Problem) -> Operator {
        let credentials = Credentials(head)
        guard tokens.isEmpty else {
            guard let found = actor(by: credentials) else { throw .adminUnauthorized }
            return found
        }
        guard isOpen else { throw .adminClosed }
        guard !credentials.isForwarded else { throw .forwardedOpen }
        guard credentials.isFromThisMachine else { throw .foreignPage }
        return .local
    }

    /// The owner of the token that a request presents; nil for any other request, and when the config has no token.
    /// Compares with every token, so the time does not tell which one is right.
    func actor(by request: Credentials) -> Operator? { request.granted(of: tokens).first }
}

/// A person or a program that operates the gateway, and its rights.
struct Operator: Sendable, Equatable {
    /// A name of `admin.tokens`, `admin` for a token of `admin.auth`, `local` without tokens.
    let name: String
    let role: OperatorRole
    /// Whether responses have the texts of notifications.
    let readsContent: Bool
    /// Whether the gateway needs no token.
    var isOpen = false

    /// Throws ``Problem/roleInsufficient(_:of:)`` for a smaller role.
    func require(_ role: OperatorRole) throws(Problem) {
        guard self.role >= role else { throw .roleInsufficient(role, of: self) }
    }

    /// Every request from this machine, for a gateway without tokens.
    static let local = Operator(name: "local", role: .admin, readsContent: true, isOpen: true)
}

extension Operator {
    /// The owner of a token.
    fileprivate init(_ token: SecretResolver.OperatorToken) {
        self.init(name: token.name, role: token.role, readsContent: token.content)
    }
}

// Shows no token, however it is printed.
extension AdminAccess: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { tokens.isEmpty ? "this machine" : "\(tokens.count) tokens" }
    package var debugDescription: String { description }
}
