import Foundation
import Synchronization

/// A state in several parts, so that threads rarely wait for each other. A thread always uses the same part.
struct Sharded<State: Sendable>: Sendable {
    /// One part with its lock.
    private final class Part: Sendable {
        // A class because a lock cannot be copied into an array.
        let state: Mutex<State>

        init(_ state: State) { self.state = Mutex(state) }
    }

    private let parts: [Part]
    /// The logarithm of the number of parts.
    private static var bits: UInt64 { 3 }

    /// `state`: the first state of every part.
    init(_ state: State) { parts = (0..<(1 << Self.bits)).map { _ in Part(state) } }

    /// Lends the part of this thread.
    func withCurrent<R: Sendable>(_ body: (inout State) -> R) -> R {
        // Addresses of threads differ in their middle bits; the product spreads them (Knuth 6.4).
        let thread = UInt64(UInt(pthread_self())) &* 0x9E37_79B9_7F4A_7C15
        return parts[Int(thread >> (64 - Self.bits))].state.withLock { body(&$0) }
    }

    /// Lends every part in turn.
    func forEach(_ body: (inout State) -> Void) {
        for part in parts { part.state.withLock { body(&$0) } }
    }
}
