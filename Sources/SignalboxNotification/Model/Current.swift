import Synchronization

/// A value that is replaced as a whole while others use it: who reads it has the old one or the new one, never parts of both.
///
/// A class because all who use it share it.
package final class Current<Value: Sendable>: Sendable {
    private let held: Mutex<Value>

    package init(_ value: Value) { held = Mutex(value) }

    package var value: Value { held.withLock { $0 } }

    package func replace(by value: Value) { held.withLock { $0 = value } }
}
