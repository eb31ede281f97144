import HTTPTypes
import Hummingbird
import SignalboxEgress

/// Who may look at what is in the queue and change it. Tokens of sources count for nothing here.
package struct AdminAccess: Sendable {
    private let tokens: [[UInt8]]
    private let isOnLoopback: Bool

    /// `tokens`: any of them is good. None: whoever is on this machine may, while the gateway listens on loopback only;
    /// otherwise nobody.
    package init(tokens: [String], isOnLoopback: Bool) {
        self.tokens = tokens.map { Array($0.utf8) }
        self.isOnLoopback = isOnLoopback
    }

    /// Every token is compared, in constant time, whatever the outcome.
    func check(_ request: Request) throws(Problem) {
        guard tokens.isEmpty else {
            let presented = bearerToken(request.headers[.authorization])
            var isGranted = false
            for token in tokens where equalInConstantTime(token, presented) { isGranted = true }
            if !isGranted { throw .adminUnauthorized }
            return
        }
        guard isOnLoopback else { throw .adminClosed }
        guard request.isFromThisMachine else { throw .foreignPage }
    }
}

// However it gets printed, it shows no token.
extension AdminAccess: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { tokens.isEmpty ? "this machine" : "\(tokens.count) tokens" }
    package var debugDescription: String { description }
}
