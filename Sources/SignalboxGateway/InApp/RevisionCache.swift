import SignalboxInApp
import Synchronization

/// A cache of values that are made from messages, with one revision of each message. Bounded in bytes: a new value
/// evicts arbitrary others. A class because all requests share it.
final class RevisionCache<Value: Sendable>: Sendable {
    /// Bytes of all values together.
    private static var limit: Int { 16 * 1024 * 1024 }

    private struct Entry {
        let revision: Int
        let registeredAt: Instant
        let bytes: Int
        let value: Value
    }

    /// The sum of the bytes is that of the entries.
    private struct State {
        var entries: [MessageID: Entry] = [:]
        var bytes = 0
    }

    private let state = Mutex(State())

    /// The size of all kept values.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Nil if this revision is not kept. The revisions of an id begin anew after upkeep has removed the message, so
    /// the time of the registration is compared too. Callable from any thread, event loops included.
    func value(of id: MessageID, revision: Int, registeredAt: Instant) -> Value? {
        state.withLock { state -> Value? in
            guard let entry = state.entries[id], entry.revision == revision, entry.registeredAt == registeredAt else {
                return nil
            }
            return entry.value
        }
    }

    /// Stores a value, and replaces another revision of the message. Evicts other values to stay within the bound.
    /// `bytes`: the size of the value; one that exceeds the bound evicts all others.
    func keep(_ value: Value, of id: MessageID, revision: Int, registeredAt: Instant, bytes: Int) {
        let entry = Entry(revision: revision, registeredAt: registeredAt, bytes: bytes, value: value)
        state.withLock { state in
            if let former = state.entries.removeValue(forKey: id) { state.bytes -= former.bytes }
            // Any others: messages that are used often come back soon.
            while state.bytes + bytes > Self.limit, let (other, old) = state.entries.first {
                state.entries[other] = nil
                state.bytes -= old.bytes
            }
            state.entries[id] = entry
            state.bytes += bytes
        }
    }
}
