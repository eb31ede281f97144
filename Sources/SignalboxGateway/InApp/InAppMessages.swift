import Dispatch
package import SignalboxInApp
import SignalboxStore
import Synchronization

/// The active messages that are for all devices, under the policy of the active config.
///
/// Each decision takes a ``Snapshot``, so it sees one policy and the messages that this policy permits. A message
/// that a later config does not permit, or that exceeds a bound, stays stored and is not active; ``fault(of:)`` says
/// why. Contents stay in the store. A class because requests, the config's reload and the intake share it.
///
/// The store reports changes on its thread, where every commit would wait for the forms to be parsed. They are queued
/// there, and parsed by a queue of this class or by the first reader, whichever comes first. So every reader sees the
/// messages of all earlier commits.
/// Messages for one user or device are not here: the store loads them with the rows of a decision.
package final class InAppMessages: Sendable {
    /// Active messages.
    package static let limit = 20_000
    /// The most bytes of the parts of all active messages that decisions read.
    static let bytesLimit = 64 * 1024 * 1024
    /// The most bytes of content and action of an inline message.
    private static let inlineLimit = 32 * 1024
    /// Stored messages that are known, active or not.
    static let entryLimit = 40_000
    /// For how long a message stays active after its end, so that offers expire for the right reason.
    private static let grace: Span = 3_600_000
    /// Stored messages that are read at once.
    private static let page = 64

    /// Policy and messages of one moment.
    struct Snapshot: Sendable {
        let engine: InAppEngine
        let index: MessageIndex
        let addressed: AddressedMessages
    }

    /// A stored message that is for all devices and not withdrawn.
    /// Kept for messages that are not active too, so that a later policy may activate them without reading the
    /// store.
    struct Entry: Sendable {
        let revision: Int
        /// Nil if it cannot be read.
        var definition: Definition?
        /// Why it is not active.
        var fault: FormFault?
        let end: Instant?
        /// The size of the parts that decisions read.
        var bytes = 0
    }

    /// Changed under its lock only; copies share their memory.
    struct State {
        var policy: Policy
        var entries: [MessageID: Entry] = [:]
        var index = MessageIndex()
        var bytes = 0
        /// No message ends before this time.
        var firstEnd = Instant.max
    }

    /// Changes of commits that ``settled`` does not have yet.
    private struct Changes {
        var waiting: [StoredInAppMessage] = []
        /// The number of messages, including those that are being parsed.
        var count = 0
    }

    /// Without the changes that still wait.
    private let settled: Mutex<State>
    private let changes = Mutex(Changes())
    private let addressed = AddressedMessages()
    /// Held while changes are parsed, so that they are applied in their order.
    private let parsing = Mutex(())
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Waiting changes beyond which the store's thread parses them itself, so that their memory is bounded.
    private static let mostWaiting = 256

    /// No messages yet; see ``follow(_:)``. `later`: runs its argument soon on another thread.
    package init(
        _ policy: Policy, later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = InAppMessages.onQueue
    ) {
        settled = Mutex(State(policy: policy))
        self.later = later
    }

    /// Runs work on a queue of its own, one piece after the other.
    package static let onQueue: @Sendable (@escaping @Sendable () -> Void) -> Void = { queue.async(execute: $0) }
    private static let queue = DispatchQueue(label: "signalbox.inapp-messages")

    /// Reads or changes the state after all commits so far.
    private func withState<R: Sendable>(_ body: (inout State) -> R) -> R {
        applyChanges()
        return settled.withLock { body(&$0) }
    }

    /// Changes that wait to be parsed. A reader would wait for them.
    var waiting: Int { changes.withLock { $0.count } }

    /// The messages under the active policy. Copies no message: the index is shared until it changes.
    var snapshot: Snapshot {
        withState { Snapshot(engine: InAppEngine(policy: $0.policy), index: $0.index, addressed: addressed) }
    }

    /// The messages of the changes that are parsed already. Waits for no parsing, so an event loop may ask. For
    /// guesses that a later ``snapshot`` corrects.
    var settledIndex: MessageIndex { settled.withLock { $0.index } }

    /// The numbers of active messages, and of stored ones that cannot be active. For metrics.
    package var counts: (active: Int, skipped: Int) {
        withState { state in (state.index.count, state.entries.values.count { $0.fault != nil }) }
    }

    /// The number of messages that cannot be active, and the first of them by id; nil for none.
    /// For the log after the start and after a reload.
    var skipped: (count: Int, first: MessageID, fault: FormFault)? {
        withState { state in
            let skipped = state.entries.filter { $0.value.fault != nil }
            guard let first = skipped.min(by: { $0.key < $1.key }), let fault = first.value.fault else { return nil }
            return (skipped.count, first.key, fault)
        }
    }

    /// Why decisions do not consider a stored message that is not withdrawn; nil if they do.
    /// For operators, who see why a message is not shown.
    func fault(of stored: StoredInAppMessage) -> FormFault? {
        guard stored.registration.address == nil else {
            do throws(FormFault) {
                try checkAddressed(Self.definition(of: Self.form(of: stored)))
                return nil
            } catch { return error }
        }
        return withState { state in
            guard let entry = state.entries[stored.registration.id] else {
                return FormFault(.tooMany, "", "The message has ended, or too many messages are stored.")
            }
            return entry.fault
        }
    }

    /// The message as decisions use it; nil if it is not active.
    func active(_ id: MessageID) -> Message? { withState { $0.index[id]?.message } }

    /// Throws the reason why a message could not be active now.
    /// `bytes`: the size of the parts that decisions read.
    func check(_ definition: Definition, bytes: Int) throws(FormFault) {
        let state = withState { $0 }
        try state.check(definition, bytes)
    }

    /// Throws the reason why decisions could not consider a message for one device or user. A cap over all users is a
    /// mistake then.
    func checkAddressed(_ definition: Definition) throws(FormFault) {
        if let limit = definition.message.limits.firstIndex(where: { $0.per == .everyone }) {
            throw FormFault(
                .contradictory, "/limits/\(limit)/per", "A message with an address has no limit for everyone.")
        }
        do throws(InputFault) { try snapshot.engine.policy.validate(definition.message) } catch {
            throw FormFault(error)
        }
        guard MessageIndex().excess(of: definition) == nil else {
            throw FormFault(.tooMany, "/triggers", "The filters have too many conditions: remove some of them.")
        }
    }

    /// Follows the store: reads every stored message, in pages, then applies each change. Call it once, before the
    /// first decision.
    /// Throws the first error of the store; the messages that were read by then stay.
    func follow(_ store: any InAppStore) async throws(StoreError) {
        store.openInApp { [self] changes in append(changes) }
        let ended = store.now.instant - Self.grace
        var last: MessageID?
        while true {
            let page = try await store.messages(after: last, upTo: Self.page, includingWithdrawn: false)
            guard let end = page.last else { break }
            last = end.registration.id
            let read = page.map { ($0.registration.id, Self.entry(of: $0)) }
            withState { state in
                for (id, entry) in read {
                    if let entry, entry.end ?? .max >= ended { state.keep(entry, of: id) }
                }
            }
        }
        withState { $0.rebuild() }
    }

    /// Forgets messages that ended some time ago. Cheap if there are none.
    /// Called by the timer. Ended messages stay in the store until upkeep removes them.
    func removeEnded(at now: Instant) {
        withState { state in
            guard state.firstEnd < now - Self.grace else { return }
            for (id, entry) in state.entries where entry.end.map({ $0 < now - Self.grace }) ?? false {
                state.remove(id)
            }
            state.firstEnd = state.entries.values.compactMap(\.end).min() ?? .max
        }
    }

    /// Queues the changes of one commit. Commits arrive in their order, on the thread of the store.
    /// Never blocks on parsing unless too many changes wait.
    private func append(_ messages: [StoredInAppMessage]) {
        let count = changes.withLock { changes in
            changes.waiting += messages
            changes.count += messages.count
            return changes.waiting.count
        }
        if count > Self.mostWaiting { applyChanges() } else { later { [weak self] in self?.applyChanges() } }
    }

    /// Parses and applies the queued changes. Returns once all changes of earlier commits are applied.
    private func applyChanges() {
        guard waiting > 0 else { return }
        parsing.withLock { _ in
            let messages = changes.withLock { changes in
                defer { changes.waiting.removeAll() }
                return changes.waiting
            }
            guard !messages.isEmpty else { return }
            let read = messages.map { ($0.registration.id, Self.entry(of: $0)) }
            // Under one lock: decisions hold copies of the index, and the first change after a copy costs as much as
            // one.
            settled.withLock { state in
                for (id, entry) in read {
                    guard let entry else {
                        state.remove(id)
                        continue
                    }
                    if state.keep(entry, of: id), let definition = entry.definition { state.activate(definition, id) }
                }
            }
            changes.withLock { $0.count -= messages.count }
        }
    }

    /// Applies the policy of a new config to every message.
    /// Returns once decisions use the new policy. Takes time in proportion to the number of messages.
    package func replace(policy: Policy) {
        withState { state in
            state.policy = policy
            state.rebuild()
        }
    }

    /// The stored form of a message.
    /// Throws for bytes that an older version accepted and this one does not.
    static func form(of message: StoredInAppMessage) throws(FormFault) -> MessageForm {
        try MessageForm.read(
            message.registration.body, id: message.registration.id, revision: message.revision,
            registeredAt: message.registeredAt)
    }

    /// The validated message of a form. A page may have 200 inline messages, so their contents must be small.
    static func definition(of form: MessageForm) throws(FormFault) -> Definition {
        guard form.message.kind != .inline || form.bytes <= inlineLimit else {
            throw FormFault(
                FormFault.Code.tooLarge, "/content",
                "Content and action of an inline message can have at most \(inlineLimit) bytes together.")
        }
        return try form.definition()
    }

    /// Nil for a message that is withdrawn or addressed.
    /// An unreadable message has a fault and no definition.
    private static func entry(of message: StoredInAppMessage) -> Entry? {
        guard message.withdrawnAt == nil, message.registration.address == nil else { return nil }
        var entry = Entry(revision: message.revision, end: message.registration.end)
        do throws(FormFault) {
            let form = try form(of: message)
            entry.definition = try definition(of: form)
            entry.bytes = message.registration.body.count - form.bytes
        } catch { entry.fault = error }
        return entry
    }
}
