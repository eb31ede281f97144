package import Foundation
import SignalboxEgress
package import SignalboxNotification

/// What makes a replay the same run after it was killed: under it, an input position has the same ids every time.
package struct RunIdentity: Sendable {
    /// 32 random bytes, made once for a run.
    package let key: [UInt8]
    /// When the run began for the first time.
    package let started: Date
    private let authentication: MessageAuthentication

    package init(key: [UInt8], started: Date) {
        self.key = key
        self.started = started
        authentication = MessageAuthentication(key: key)
    }

    /// The id of the event made of a payload: a UUID version 7 (RFC 9562) whose time is when it was recorded, or else when
    /// the run began. Behind the time stand 12 bits that count mebibytes of the input (RFC 9562, 6.2, method 1), so that ids
    /// of neighbours lie together in an index; the other 62 are a keyed digest of where the payload stands. `input`: position
    /// among the inputs.
    package func eventID(input: Int, offset: Int, recorded: Timestamp?) -> EventID {
        let digest = digest(of: "event", input, offset)
        return EventID(
            at: recorded?.date ?? started,
            random: (
                UInt64(truncatingIfNeeded: offset >> 20),
                digest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
            ))
    }

    /// The `Idempotency-Key` of the request whose first payload stands there.
    package func requestKey(input: Int, offset: Int) -> String {
        "replay-" + hexadecimal(digest(of: "request", input, offset).prefix(16))
    }

    private func digest(of what: String, _ input: Int, _ offset: Int) -> [UInt8] {
        authentication.authenticate(Array("\(what):\(input):\(offset)".utf8))
    }
}
