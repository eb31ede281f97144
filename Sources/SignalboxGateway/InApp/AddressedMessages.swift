import SignalboxInApp
import SignalboxStore
import Synchronization

/// The parsed messages for one user or device that decisions read last. The store loads their bodies with the rows of
/// each decision; a body is parsed once for all of them. Bounded, so the messages of absent users do not fill the
/// memory. A class because all decisions share it.
final class AddressedMessages: Sendable {
    /// Bytes of the bodies of all kept messages.
    private static let limit = 16 * 1024 * 1024

    private struct Parsed {
        let revision: Int
        let registeredAt: Instant
        let bytes: Int
        /// Nil for a message that cannot be read.
        let definition: Definition?
    }

    /// The sum of the bytes is that of the messages.
    private struct State {
        var messages: [MessageID: Parsed] = [:]
        var bytes = 0
    }

    private let state = Mutex(State())

    /// The size of all kept messages.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Nil for a body that an older version accepted and this one does not.
    func definition(of stored: StoredInAppMessage) -> Definition? {
        let id = stored.registration.id
        let known = state.withLock { state in
            state.messages[id].flatMap {
                $0.revision == stored.revision && $0.registeredAt == stored.registeredAt ? $0 : nil
            }
        }
        if let known { return known.definition }
        let parsed = Parsed(
            revision: stored.revision, registeredAt: stored.registeredAt, bytes: stored.registration.body.count,
            definition: try? InAppMessages.definition(of: InAppMessages.form(of: stored)))
        state.withLock { state in
            if let former = state.messages.removeValue(forKey: id) { state.bytes -= former.bytes }
            // Any others: users and devices that ask often come back soon.
            while state.bytes + parsed.bytes > Self.limit, let (other, old) = state.messages.first {
                state.messages[other] = nil
                state.bytes -= old.bytes
            }
            state.messages[id] = parsed
            state.bytes += parsed.bytes
        }
        return parsed.definition
    }
}
