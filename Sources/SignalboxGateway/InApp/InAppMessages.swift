package import SignalboxInApp
import SignalboxNotification
import SignalboxStore
import Synchronization

/// The active messages that are for all devices, under the policy of the active config.
///
/// Each decision takes a ``Snapshot``, so it sees one policy and the messages that this policy permits. A message
/// that a later config does not permit, or that exceeds a bound, stays stored and is not active; ``fault(of:)`` says
/// why. Contents stay in the store. A class because requests, the config's reload and the intake share it.
package final class InAppMessages: Sendable {
    /// Active messages.
    package static let limit = 20_000
    /// Bytes of the parts of all active messages that decisions read.
    static let bytesLimit = 64 * 1024 * 1024
    /// Bytes of content and action of an inline message.
    private static let inlineLimit = 32 * 1024
    /// Stored messages that are known, active or not.
    fileprivate static let entryLimit = 40_000
    /// For how long a message stays active after its end, so that offers expire for the right reason.
    private static let grace: Span = 3_600_000
    /// Stored messages that are read at once.
    private static let page = 64

    /// Policy and messages of one moment.
    struct Snapshot: Sendable {
        let engine: InAppEngine
        let index: MessageIndex
    }

    /// A stored message that is for all devices and not withdrawn.
    struct Entry: Sendable {
        let revision: Int
        /// Nil if it cannot be read.
        var definition: Definition?
        /// Why it is not active.
        var fault: FormFault?
        let end: Instant?
        /// Of the parts that decisions read.
        var bytes = 0
    }

    fileprivate struct State {
        var policy: Policy
        var entries: [MessageID: Entry] = [:]
        var index = MessageIndex()
        var bytes = 0
        /// No message ends before this time.
        var firstEnd = Instant.max
    }

    private let state: Mutex<State>

    /// No messages yet; see ``follow(_:)``.
    package init(_ policy: Policy) { state = Mutex(State(policy: policy)) }

    var snapshot: Snapshot {
        state.withLock { Snapshot(engine: InAppEngine(policy: $0.policy), index: $0.index) }
    }

    /// The number of active messages, and of those that are stored and cannot be active.
    package var counts: (active: Int, skipped: Int) {
        state.withLock { state in (state.index.count, state.entries.values.count { $0.fault != nil }) }
    }

    /// The number of messages that cannot be active, and the first of them by id; nil for none.
    var skipped: (count: Int, first: MessageID, fault: FormFault)? {
        state.withLock { state in
            let skipped = state.entries.filter { $0.value.fault != nil }
            guard let first = skipped.min(by: { $0.key < $1.key }), let fault = first.value.fault else { return nil }
            return (skipped.count, first.key, fault)
        }
    }

    /// Why decisions do not consider a stored message that is not withdrawn; nil if they do.
    func fault(of stored: StoredInAppMessage) -> FormFault? {
        guard stored.registration.address == nil else {
            do throws(FormFault) {
                try checkAddressed(Self.definition(of: Self.form(of: stored)))
                return nil
            } catch {
                return error
            }
        }
        return state.withLock { state in
            guard let entry = state.entries[stored.registration.id] else {
                return FormFault(.tooMany, "", "The message has ended, or too many messages are stored.")
            }
            return entry.fault
        }
    }

    /// The revision that decisions use; nil if the message is not active.
    func revision(of id: MessageID) -> Int? { state.withLock { $0.index[id]?.message.revision } }

    /// Throws the reason why a message could not be active now.
    func check(_ definition: Definition, bytes: Int) throws(FormFault) {
        let state = state.withLock { $0 }
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
    func follow(_ store: any InAppStore) async throws(StoreError) {
        store.openInApp { [self] changes in apply(changes) }
        let ended = store.now.instant - Self.grace
        var last: MessageID?
        while true {
            let page = try await store.messages(after: last, upTo: Self.page, includingWithdrawn: false)
            guard let end = page.last else { break }
            last = end.registration.id
            let read = page.map { ($0.registration.id, Self.entry(of: $0)) }
            state.withLock { state in
                for (id, entry) in read {
                    if let entry, entry.end ?? .max >= ended { state.keep(entry, of: id) }
                }
            }
        }
        state.withLock { $0.rebuild() }
    }

    /// Forgets messages that ended some time ago. Cheap if there are none.
    func removeEnded(at now: Instant) {
        state.withLock { state in
            guard state.firstEnd < now - Self.grace else { return }
            for (id, entry) in state.entries where entry.end.map({ $0 < now - Self.grace }) ?? false {
                state.remove(id)
            }
            state.firstEnd = state.entries.values.compactMap(\.end).min() ?? .max
        }
    }

    /// Applies the changes of one commit. Commits arrive in their order.
    private func apply(_ changes: [StoredInAppMessage]) {
        let read = changes.map { ($0.registration.id, Self.entry(of: $0)) }
        // Under one lock: decisions hold copies of the index, and the first change after a copy costs as much as one.
        state.withLock { state in
            for (id, entry) in read {
                guard let entry else {
                    state.remove(id)
                    continue
                }
                if state.keep(entry, of: id), let definition = entry.definition { state.activate(definition, id) }
            }
        }
    }

    /// Applies the policy of a new config to every message.
    package func replace(policy: Policy) {
        state.withLock { state in
            state.policy = policy
            state.rebuild()
        }
    }

    /// The stored form of a message.
    static func form(of message: StoredInAppMessage) throws(FormFault) -> MessageForm {
        try MessageForm.read(
            message.registration.body, id: message.registration.id, revision: message.revision,
            registeredAt: message.registeredAt)
    }

    /// The validated message of a form. A page may have 200 inline messages, so their contents are small.
    static func definition(of form: MessageForm) throws(FormFault) -> Definition {
        guard form.message.kind != .inline || form.bytes <= inlineLimit else {
            throw FormFault(
                FormFault.Code.tooLarge, "/content",
                "Content and action of an inline message have at most \(inlineLimit) bytes together.")
        }
        return try form.definition()
    }

    /// Nil for a message that is withdrawn or addressed.
    private static func entry(of message: StoredInAppMessage) -> Entry? {
        guard message.withdrawnAt == nil, message.registration.address == nil else { return nil }
        var entry = Entry(revision: message.revision, end: message.registration.end)
        do throws(FormFault) {
            let form = try form(of: message)
            entry.definition = try definition(of: form)
            entry.bytes = message.registration.body.count - form.bytes
        } catch {
            entry.fault = error
        }
        return entry
    }
}

extension InAppMessages.State {
    /// Returns false for an older state than the known one, and when too many messages are known.
    @discardableResult
    fileprivate mutating func keep(_ entry: InAppMessages.Entry, of id: MessageID) -> Bool {
        if let known = entries[id] {
            guard known.revision <= entry.revision else { return false }
            deactivate(id)
        } else if entries.count >= InAppMessages.entryLimit {
            return false
        }
        entries[id] = entry
        firstEnd = min(firstEnd, entry.end ?? .max)
        return true
    }

    fileprivate mutating func remove(_ id: MessageID) {
        deactivate(id)
        entries[id] = nil
    }

    private mutating func deactivate(_ id: MessageID) {
        if index.withdraw(id) != nil { bytes -= entries[id]?.bytes ?? 0 }
    }

    fileprivate mutating func activate(_ definition: Definition, _ id: MessageID) {
        do throws(FormFault) {
            let size = entries[id]?.bytes ?? 0
            try check(definition, size)
            index.register(definition)
            bytes += size
            entries[id]?.fault = nil
        } catch {
            entries[id]?.fault = error
        }
    }

    /// The oldest messages first, so that the newest ones are left out when a bound is reached.
    fileprivate mutating func rebuild() {
        (index, bytes) = (MessageIndex(), 0)
        let definitions = entries.values.compactMap(\.definition).sorted {
            ($0.message.registeredAt, $0.message.id) < ($1.message.registeredAt, $1.message.id)
        }
        for definition in definitions { activate(definition, definition.message.id) }
    }

    /// `size`: bytes of the parts that decisions read.
    fileprivate func check(_ definition: Definition, _ size: Int) throws(FormFault) {
        do throws(InputFault) { try policy.validate(definition.message) } catch { throw FormFault(error) }
        let former = index[definition.message.id] == nil ? nil : entries[definition.message.id]
        guard index.count - (former == nil ? 0 : 1) < InAppMessages.limit,
            bytes - (former?.bytes ?? 0) + size <= InAppMessages.bytesLimit
        else { throw FormFault(.tooMany, "", "Too many active messages: withdraw others first.") }
        if let trigger = index.excess(of: definition) {
            throw FormFault(
                .tooMany, "/triggers/\(trigger)",
                "Too many active messages and conditions for this trigger: withdraw others, or use another event.")
        }
    }
}
