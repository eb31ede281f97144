import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Synchronization

/// The rows of in-app messages in memory. A class because the tested code and the test share it.
final class MemoryInAppStore: InAppStore {
    struct State {
        var rows = MemoryRows()
        var due: [DeviceID: Instant] = [:]
        var messages: ExactTextMap<StoredInAppMessage> = [:]
        var events: [RoutedEvent] = []
        /// The tallies that each decision asked for.
        var asked: [[MessageID]] = []
        var onChange: @Sendable ([StoredInAppMessage]) -> Void = { _ in }
        var failure: StoreError?
        /// Whether every step runs twice, as after the failure of a commit.
        var runsTwice = false
        var reads = 0
    }

    let health = StoreHealth()
    private let clock: ManualDate
    private let state = Mutex(State())

    init(clock: ManualDate) { self.clock = clock }

    var now: Date { clock.now }

    func with<R: Sendable>(_ body: (inout sending State) -> sending R) -> R { state.withLock(body) }

    var events: [RoutedEvent] { state.withLock { $0.events } }

    func gauges() async throws(StoreError) -> [DestinationName: DestinationGauges] { [:] }

    func openInApp(onChange: @escaping @Sendable ([StoredInAppMessage]) -> Void) {
        state.withLock { $0.onChange = onChange }
    }

    func decide(
        _ decision: InAppDecision, whenDone done: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        do throws(StoreError) { try fail() } catch { return done(.failure(error)) }
        // Outside the lock: a decision that is not complete asks again from here.
        done(.success(state.withLock { $0.decide(decision) }))
    }

    func rows(of subject: InAppSubject, tallies: [MessageID]) async throws(StoreError) -> InAppRows {
        try fail()
        return state.withLock { $0.load(subject, tallies: tallies) }
    }

    func register(
        _ message: InAppRegistration, as action: OperatorAction?
    ) async throws(StoreError) -> StoredInAppMessage {
        try fail()
        let (stored, onChange) = state.withLock { state in
            let former = state.messages[message.id]
            if let former, former.withdrawnAt == nil, former.registration.body == message.body,
                former.registration.address == message.address
            {
                return (former, state.onChange)
            }
            let stored = StoredInAppMessage(
                message, revision: (former?.revision ?? 0) + 1, registeredAt: clock.instant, withdrawnAt: nil)
            state.messages[message.id] = stored
            return (stored, state.onChange)
        }
        onChange([stored])
        return stored
    }

    func withdraw(
        message id: MessageID, as action: OperatorAction?
    ) async throws(StoreError) -> StoredInAppMessage? {
        try fail()
        let (stored, onChange) = state.withLock {
            state -> (StoredInAppMessage?, @Sendable ([StoredInAppMessage]) -> Void) in
            guard let former = state.messages[id] else { return (nil, state.onChange) }
            let stored = StoredInAppMessage(
                former.registration, revision: former.revision, registeredAt: former.registeredAt,
                withdrawnAt: former.withdrawnAt ?? clock.instant)
            state.messages[id] = stored
            return (stored, state.onChange)
        }
        if let stored { onChange([stored]) }
        return stored
    }

    /// As upkeep removes a message.
    func remove(message id: MessageID) {
        let (former, onChange) = state.withLock { ($0.messages.removeValue(forKey: id), $0.onChange) }
        guard let former else { return }
        onChange([
            StoredInAppMessage(
                former.registration, revision: former.revision, registeredAt: former.registeredAt,
                withdrawnAt: clock.instant)
        ])
    }

    func message(_ id: MessageID) async throws(StoreError) -> StoredInAppMessage? {
        try fail()
        return state.withLock { state in
            state.reads += 1
            return state.messages[id]
        }
    }

    func messages(
        after id: MessageID?, upTo count: Int, includingWithdrawn: Bool
    ) async throws(StoreError) -> [StoredInAppMessage] {
        try fail()
        return state.withLock { state in
            let all = state.messages.values.filter { message in
                (includingWithdrawn || message.withdrawnAt == nil)
                    && id.map { $0.utf8.lexicographicallyPrecedes(message.registration.id.utf8) } ?? true
            }
            return Array(
                all.sorted { $0.registration.id.utf8.lexicographicallyPrecedes($1.registration.id.utf8) }.prefix(count))
        }
    }

    func dueDevices(at now: Instant, upTo limit: Int) async throws(StoreError) -> [DeviceID] {
        try fail()
        return state.withLock { state in
            state.due.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(limit)
                .map(\.key)
        }
    }

    func nextInAppDue() async throws(StoreError) -> Instant? {
        try fail()
        return state.withLock { $0.due.values.min() }
    }

    private func fail() throws(StoreError) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}

extension ManualDate {
    var instant: Instant { Instant((now.timeIntervalSince1970 * 1000).rounded(.down)) }
}

extension MemoryInAppStore.State {
    fileprivate mutating func decide(_ decision: InAppDecision) {
        asked.append(decision.tallies)
        let loaded = load(decision.subject, tallies: decision.tallies)
        if runsTwice { _ = decision.step(loaded) }
        let made = decision.step(loaded)
        rows.apply(made.changes)
        for case .device(let device) in made.changes { due[device.id] = made.nextDue }
        events += made.events
    }

    fileprivate func load(_ subject: InAppSubject, tallies: [MessageID]) -> InAppRows {
        var rows: InAppRows
        switch subject {
        case .device(let device, let user):
            rows = InAppRows(state: self.rows.load(device: device, user: user ?? AnonymousUser.id(on: device)))
        case .due(let device):
            let user = self.rows.devices[device]?.user ?? AnonymousUser.id(on: device)
            rows = InAppRows(state: self.rows.load(device: device, user: user))
        case .offer(let offer):
            guard let offer = self.rows.offers[offer] else {
                rows = InAppRows(state: InAppState(user: UserState(id: ""), device: DeviceState(id: "")))
                rows.isUnknownOffer = true
                return rows
            }
            rows = InAppRows(state: self.rows.load(device: offer.device, user: offer.user))
        }
        let live = rows.state.offers.values.filter { $0.device == rows.state.device.id && !$0.state.isEnded }
        let wanted = Set(tallies).union(live.flatMap { [$0.message] + $0.runnersUp })
        rows.state.tallies = self.rows.tallies.filter { wanted.contains($0.key) }
        rows.addressed = messages.values.filter { message in
            guard message.withdrawnAt == nil else { return false }
            return switch message.registration.address {
            case .user(let user): user == rows.state.user.id
            case .device(let device): device == rows.state.device.id
            case nil: false
            }
        }
        return rows
    }
}
