import Synchronization

/// Whether a repeated operation fails at present, so that each change is logged once. Any task may call it; of several
/// concurrent calls only one reports the change.
///
/// A class because all its callers share it.
package final class Outage: Sendable {
    private let isUnderWay = Mutex(false)

    /// The operation counts as working until the first failure.
    package init() {}

    /// Records a failure; true when it is the first one in a row.
    package func begins() -> Bool { change(to: true) }

    /// Records a success; true when it is the first one after a failure.
    package func ends() -> Bool { change(to: false) }

    /// Stores the state; true if it differs from the one before.
    private func change(to value: Bool) -> Bool { isUnderWay.withLock { exchange(&$0, with: value) != value } }
}
