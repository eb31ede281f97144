import Synchronization

/// A value that tasks share and one of them replaces as a whole: a reader gets the old value or the new one, never
/// parts of both.
///
/// A class because all users share one instance.
package final class Replaceable<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    /// The value that readers get until the first replacement.
    package init(_ value: Value) { stored = Mutex(value) }

    /// A copy of the present value.
    package var value: Value { stored.withLock { $0 } }

    /// Replaces the value; a reader that has the old one keeps it.
    package func replace(by value: Value) { stored.withLock { $0 = value } }
}
