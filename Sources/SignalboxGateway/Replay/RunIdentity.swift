package import Foundation
import SignalboxEgress
package import SignalboxNotification

/// Derives ids from a run and an input position, so that a resumed run repeats the ids of the killed one. A value
/// without mutable state; workers use it in parallel.
package struct RunIdentity: Sendable {
    /// When the run began for the first time.
    package let started: Date
    private let authentication: MessageAuthentication

    /// `key`: 32 random bytes, made once for a run. `started`: the time of events whose payload has no recorded time.
    package init(key: [UInt8], started: Date) {
        self.started = started
        authentication = MessageAuthentication(key: key)
    }

    /// The id of an event: a UUID version 7 (RFC 9562). Its time is the recorded time, or the start of the run. The
    /// next 12 bits count mebibytes of the input (RFC 9562, 6.2, method 1), so that neighbours are close in an index.
    /// The other 62 bits are a keyed digest of the position. `input`: index of the input. Equal arguments give equal
    /// ids, even in another process of the run.
    package func eventID(input: Int, offset: Int, recorded: Timestamp?) -> EventID {
        let digest = digest(of: "event", input, offset)
        return EventID(
            at: recorded?.date ?? started,
            random: (
                UInt64(truncatingIfNeeded: offset >> 20),
                digest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
            ))
    }

    /// The `Idempotency-Key` of the request whose first payload is at this position. It depends on the first payload
    /// only, so requests must be cut in the same places.
    package func requestKey(input: Int, offset: Int) -> String {
        "replay-" + hexadecimal(digest(of: "request", input, offset).prefix(16))
    }

    private func digest(of purpose: String, _ input: Int, _ offset: Int) -> [UInt8] {
        authentication.authenticate(Array("\(purpose):\(input):\(offset)".utf8))
    }
}
