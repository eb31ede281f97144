import SignalboxEgress
import SignalboxInApp
import SignalboxNotification
package import SignalboxStore

/// Decides which in-app message a device shows, and commits the decision with its events before it is answered.
///
/// The flow: a form is read (`Forms/`), the store loads the rows of the device and its user, ``InAppEngine`` decides
/// over them and the active messages (``InAppMessages``), ``InAppEvents`` routes the records, and the store commits
/// rows, events and deliveries together. A value: a reload makes a new one. Callable from any task.
/// Failures: ``InAppFailure`` says which of them a client may repeat. A rejected request stores no row and no event.
package struct InAppFlow: Sendable {
    /// The parts that outlive a config, one set for each process.
    package struct Shared: Sendable {
        let store: any InAppStore
        /// The active messages, with the policy of the active config.
        package let messages: InAppMessages
        /// Counters since the start of the process.
        package let counts = InAppCounts()
        let contents = InAppContents()
        let alarm = InAppAlarm()

        /// No message is active before ``InAppMessages/follow(_:)``.
        init(_ store: any InAppStore, policy: Policy) {
            self.store = store
            messages = InAppMessages(policy)
        }
    }

    /// The parts that all configs share.
    package let shared: Shared
    /// Makes events, under the routes of this config.
    let events: InAppEvents
    /// The sources of this config. A device of one of them is closed to the others.
    let sources: Set<SourceName>

    /// `events`: under the routes of the same config.
    init(_ shared: Shared, events: InAppEvents, sources: Set<SourceName> = []) {
        (self.shared, self.events, self.sources) = (shared, events, sources)
    }

    /// Holds rows and messages.
    var store: any InAppStore { shared.store }
    /// The store's clock, which may be set back; the engine never decides before the last decision of a user or a
    /// device.
    var now: Instant { store.now.instant }

    /// An offer's id: the time, so that the store's index of ids grows at its end, and 128 random bits, because
    /// a client that knows it may report.
    var ticket: String {
        let time = withUnsafeBytes(of: UInt64(max(now, 0)).bigEndian) { hexadecimal($0.suffix(6)) }
        return "of_" + time + hexadecimal(randomBytes(16))
    }

    /// Ends those leases, delays, waits and displays of a device that are due. Called by the timer. Offers nothing: a
    /// client must ask. Harmless for a device without due work.
    func advance(_ device: DeviceID) async throws(InAppFailure) {
        let question = Question<Void>(subject: .due(device), source: .default, tallies: { _, _, _ in [] }) {
            engine, state, active, now in
            .success(((), engine.advance(state, messages: active, now: now)))
        }
        _ = try await decide(question)
    }

    /// The number of devices with overdue work, at most 1,000.
    package func dueDevices() async throws(StoreError) -> Int { try await store.dueDevices(at: now, upTo: 1000).count }

    /// Runs a reader of a form, and converts its fault.
    static func form<Form>(_ read: () throws(FormFault) -> Form) throws(InAppFailure) -> Form {
        do throws(FormFault) { return try read() } catch { throw .malformed(error) }
    }
}
