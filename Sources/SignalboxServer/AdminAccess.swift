import HTTPTypes
import Hummingbird
import SignalboxEgress

/// Who may look at what is in the queue and change it. Tokens of sources count for nothing here.
package struct AdminAccess: Sendable {
    private let tokens: [[UInt8]]
    private let isOpen: Bool

    /// `tokens`: any of them is good. `isOpen`: without tokens, whoever is on this machine may; for a gateway that listens on
    /// loopback and takes payloads from anybody there. Otherwise nobody: behind a proxy, the whole world seems to be on
    /// this machine.
    package init(tokens: [String], isOpen: Bool) {
        self.tokens = tokens.map { Array($0.utf8) }
        self.isOpen = isOpen
    }

    /// Every token is compared, in constant time, whatever the outcome.
    func check(_ request: Request) throws(Problem) {
        guard tokens.isEmpty else {
            if !isGranted(by: request) { throw .adminUnauthorized }
            return
        }
        guard isOpen else { throw .adminClosed }
        let isForwarded = ["forwarded", "via", "x-forwarded-for", "x-real-ip"].contains { name in
            HTTPField.Name(name).map { request.headers[$0] != nil } ?? false
        }
        guard request.head.isFromThisMachine, !isForwarded else { throw .foreignPage }
    }

    /// Whether a request bears one of the tokens.
    func isGranted(by request: Request) -> Bool {
        let presented = bearerToken(request.headers[.authorization])
        var isGranted = false
        for token in tokens where equalInConstantTime(token, presented) { isGranted = true }
        return isGranted
    }
}

// However it gets printed, it shows no token.
extension AdminAccess: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { tokens.isEmpty ? "this machine" : "\(tokens.count) tokens" }
    package var debugDescription: String { description }
}
