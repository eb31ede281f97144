import HTTPTypes

/// Decides which requests may read and change the queue. Tokens of sources do not count.
package struct AdminAccess: Sendable {
    /// UTF-8 bytes, for comparisons in constant time.
    private let tokens: [(value: Void, token: [UInt8])]
    private let isOpen: Bool

    /// `tokens`: each of them grants access. `isOpen`: without tokens, requests from this machine have access; for a
    /// gateway that listens on loopback and accepts payloads without a token. Otherwise no request has access, because
    /// behind a proxy all requests seem to come from this machine.
    package init(tokens: [String], isOpen: Bool) {
        self.tokens = tokens.map { ((), Array($0.utf8)) }
        self.isOpen = isOpen
    }

    /// Throws ``Problem/adminUnauthorized`` without a valid token, ``Problem/adminClosed`` when the config grants
    /// access to no request, and ``Problem/foreignPage`` for a request that did not begin on this machine.
    func check(_ head: HTTPRequest) throws(Problem) {
        guard tokens.isEmpty else {
            if !isGranted(by: Credentials(head)) { throw .adminUnauthorized }
            return
        }
        guard isOpen else { throw .adminClosed }
        let isForwarded = ["forwarded", "via", "x-forwarded-for", "x-real-ip"].contains {
            head.headerFields[text: $0] != nil
        }
        guard Credentials(head).isFromThisMachine, !isForwarded else { throw .foreignPage }
    }

    /// Whether a request presents one of the tokens. False when the config has no admin token.
    func isGranted(by request: Credentials) -> Bool { !request.granted(of: tokens).isEmpty }
}

// Shows no token, however it is printed.
extension AdminAccess: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { tokens.isEmpty ? "this machine" : "\(tokens.count) tokens" }
    package var debugDescription: String { description }
}
