import Foundation
import GRDB
import SignalboxInApp
import SignalboxStore

/// A decision as the commit group performs it. The step is a function of the rows, because a failed commit is
/// repeated in parts.
struct InAppDecision: Sendable {
    let subject: InAppSubject
    let tallies: [MessageID]
    /// Its result is a ``Decided`` value.
    let step: @Sendable (InAppRows) -> InAppStep<any Sendable>

    /// The result of a step. A type of its own, because a cast would unwrap a result that is optional.
    struct Decided<Result: Sendable>: Sendable {
        let result: Result
    }
}

extension WriteTransaction {
    /// Runs the step over the rows as earlier writes of the group left them, and writes its changes and events.
    mutating func decide(_ decision: InAppDecision) throws -> any Sendable {
        let loaded = try inApp.load(decision.subject, tallies: decision.tallies)
        let step = decision.step(loaded.rows)
        for change in step.changes { try apply(change, nextDue: step.nextDue, loaded) }
        if !step.events.isEmpty { _ = try append(step.events, nil) }
        return step.result
    }

    private mutating func apply(_ change: RowChange, nextDue: Instant?, _ loaded: LoadedInApp) throws {
        switch change {
        case .user(let id, let lastNow): try put(user: id, lastNow: lastNow, loaded)
        case .device(let device): try put(device, nextDue: nextDue, loaded)
        case .offer(let offer): try run(.putOffer) { offer.bind(&$0) }
        case .removeOffer(let id): try run(.removeOffer) { $0.bind(id) }
        case .display(let subject, let display):
            let (kind, owner) = subject.key
            try run(.putDisplay) { row in
                row.bind(kind)
                row.bind(owner)
                display.bind(&row, owner: owner)
            }
        case .removeDisplay(let subject, let offer):
            let (kind, owner) = subject.key
            try run(.removeDisplay) { row in
                row.bind(kind)
                row.bind(owner)
                row.bind(offer)
            }
        case .total(let subject, let key, let total): try put(total, of: key, subject)
        case .tally(let message, let committed, let reserved):
            // Twice: for a new row, and to be added to the present one.
            try run(.addTally) { row in
                row.bind(message)
                for _ in 0..<2 {
                    row.bind(committed)
                    row.bind(reserved)
                }
            }
        }
    }

    private mutating func run(
        _ statement: InAppStatement, _ bind: (inout RowStatement.Arguments) -> Void
    ) throws {
        try inApp.statements(statement, in: db).run(bind)
    }

    // MARK: Users and devices

    /// The value of the columns `seen`.
    private static func day(of instant: Instant) -> Int64 { instant / InAppRemoval.day }

    /// Leaves indexed columns out of the write if they keep their values: SQLite writes the index of each column that a
    /// statement names.
    private mutating func put(user id: UserID, lastNow: Instant, _ loaded: LoadedInApp) throws {
        let seen = Self.day(of: lastNow)
        let isIndexed = loaded.rows.state.user.id == id && loaded.userSeen == seen
        try run(isIndexed ? .touchUser : .putUser) { row in
            row.bind(lastNow)
            if !isIndexed { row.bind(seen) }
            row.bind(id)
        }
    }

    private mutating func put(_ device: DeviceState, nextDue: Instant?, _ loaded: LoadedInApp) throws {
        let seen = Self.day(of: device.lastNow)
        let isIndexed =
            loaded.rows.state.device.id == device.id && loaded.deviceSeen == seen && loaded.nextDue == nextDue
        try run(isIndexed ? .touchDevice : .putDevice) { row in
            DeviceRow.bind(device, &row)
            if !isIndexed {
                row.bind(nextDue)
                row.bind(seen)
            }
            row.bind(device.id)
        }
    }

    private mutating func put(
        _ total: Ledger.Total, of key: Ledger.Key, _ subject: RowChange.Subject
    ) throws {
        let ((kind, owner), (what, name)) = (subject.key, key.columns)
        try run(.putTotal) { row in
            row.bind(kind)
            row.bind(owner)
            row.bind(what)
            row.bind(name)
            row.bind(total.count)
            row.bind(total.last)
        }
    }

    // MARK: Messages

    /// Stores a message. Changes nothing if the stored one is equal and not withdrawn.
    @discardableResult
    mutating func register(_ message: InAppRegistration) throws -> StoredInAppMessage {
        let former = try inApp.message(message.id)
        if let former, former.withdrawnAt == nil, former.registration.body == message.body,
            former.registration.address == message.address
        {
            return former
        }
        let stored = StoredInAppMessage(
            message, revision: (former?.revision ?? 0) + 1, registeredAt: now.milliseconds, withdrawnAt: nil)
        try put(stored)
        return stored
    }

    /// Nil if the id is unknown. Changes nothing if the message is withdrawn already.
    mutating func withdraw(_ id: MessageID) throws -> StoredInAppMessage? {
        guard let former = try inApp.message(id), former.withdrawnAt == nil else { return try inApp.message(id) }
        let stored = former.withdrawn(at: now)
        try put(stored)
        return stored
    }

    private mutating func put(_ message: StoredInAppMessage) throws {
        try run(.putMessage) { message.bind(&$0) }
        effects.messages.append(message)
    }
}

extension StoredInAppMessage {
    /// The same revision, withdrawn.
    func withdrawn(at date: Date) -> StoredInAppMessage {
        StoredInAppMessage(
            registration, revision: revision, registeredAt: registeredAt, withdrawnAt: date.milliseconds)
    }
}
