import Foundation
import SignalboxInApp
import SignalboxStore
import SignalboxTesting
import Testing

/// The engine's decisions, made by two nodes at the same time about the same people and campaigns.
@Suite(.timeLimit(.minutes(5))) struct InAppEngineTests: Sendable {
    private static let noon: Instant = 1_795_348_800_000
    /// Displays to all users: of the campaign that is shown at once, and of the one with a delay.
    private static let caps = ["now": 25, "later": 12]
    /// Displays of all messages to one user.
    private static let perUser = 6

    private let engine: InAppEngine
    private let messages: ActiveMessages

    init() throws {
        var policy = Policy()
        policy.interval = 0
        policy.limits = [Limit(Self.perUser, .rolling(86_400_000), owner: .scope, name: "all")]
        try policy.validate()
        engine = InAppEngine(policy: policy)
        messages = ActiveMessages(
            MessageIndex(
                try Self.caps.map { id, cap in
                    var message = Message(
                        id: id, vendor: "own", kind: .modal, triggers: [.event(name: id, filter: nil)],
                        reEligibility: .always)
                    message.limits = [Limit(cap, .lifetime, per: .everyone)]
                    if id == "later" { message.delay = 500 }
                    return try Definition(message)
                }))
    }

    /// A trigger of a simulated device, and its report.
    private struct Act: Sendable {
        let number: Int
        let device: DeviceID
        let user: UserID
        let message: MessageID
        let node: Int
        let outcome: Report.Outcome
        var now: Instant { noon + Instant(number) * 5 }
    }

    @Test func limitsHoldInDecisionsOfTheEngine() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let acts = (0..<500).map { number in
            // A device keeps its user: an impression of an offer that a change of the user ended counts beyond limits.
            let device = Int.random(in: 0..<30, using: &random)
            return Act(
                number: number, device: "d\(device)", user: "u\(device % 10)",
                message: Bool.random(using: &random) ? "now" : "later", node: Int.random(in: 0...1, using: &random),
                outcome: [.shown, .shown, .later, .discard, .undo].randomElement(using: &random) ?? .shown)
        }
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let stores = try [location.openBeside(clock), location.openBeside(clock)]
            let shown = try await perform(acts, on: stores)
            try await expectLimits(shown, in: stores, seed)
        }
    }

    private func expectLimits(_ shown: [Offer], in stores: [any Store], _ seed: UInt64) async throws {
        let ids = Set(shown.map(\.id))
        #expect(!ids.isEmpty && ids.count == shown.count, "seed \(seed): an impression counts once")
        let campaigns = Self.caps.keys.sorted()
        let tallies = try await stores[0].rows(of: .device("x", user: "x"), tallies: campaigns).state.tallies
        for id in campaigns {
            let (tally, displays) = (tallies[id] ?? Tally(), shown.filter { $0.message == id }.count)
            #expect(tally.committed == displays, "seed \(seed), \(id)")
            #expect(tally.committed + tally.reserved <= Self.caps[id] ?? 0, "seed \(seed), \(id)")
        }
        for user in Set(shown.map(\.user)) {
            let displays = Set(shown.filter { $0.user == user }.map(\.id))
            let state = try await stores[1].rows(of: .device("x", user: user), tallies: []).state
            let counted = Set(state.user.ledger.displays.map(\.offer))
            #expect(counted == displays && displays.count <= Self.perUser, "seed \(seed), \(user)")
        }
        let audit = try await stores[0].audit()
        #expect(audit.isRight, "seed \(seed)")
    }

    /// Performs all of them at the same time. Returns the displays.
    private func perform(_ acts: [Act], on stores: [any Store]) async throws -> [Offer] {
        try await withThrowingTaskGroup(of: [Offer].self) { group in
            for act in acts { group.addTask { try await self.perform(act, on: stores) } }
            var shown: [Offer] = []
            for try await more in group { shown += more }
            return shown
        }
    }

    /// Triggers, asks for messages that have become ready, reports each offer on both nodes, and advances the device.
    /// Returns the displays.
    private func perform(_ act: Act, on stores: [any Store]) async throws -> [Offer] {
        let (store, other) = (stores[act.node], stores[1 - act.node])
        var shown: [Offer] = []
        for (step, event) in [TriggerEvent.event(name: act.message, properties: nil), .poll].enumerated() {
            let now = act.now + Instant(step) * 600
            let request = TriggerRequest(
                device: act.device, user: act.user, event: event, client: ClientState(foreground: true),
                ticket: "of_\(act.number)_\(step)")
            let decision = try await trigger(request, at: now, by: store)
            shown += decision.shown
            if let offer = decision.offer {
                for (count, node) in [other, store].enumerated() {
                    let report = Report(
                        id: "r\(act.number)_\(step)", offer: offer, device: act.device,
                        outcome: step == 0 ? act.outcome : .shown, ticket: "of_\(act.number)_\(step)_\(count)")
                    shown += try await self.report(report, at: now, by: node).shown
                }
            }
            shown += try await advance(act.device, at: now, by: other).shown
        }
        return shown
    }

    /// The offer that a client gets, and the displays that a decision records.
    private struct Made: Sendable {
        var offer: OfferID?
        var shown: [Offer] = []
    }

    private func trigger(_ request: TriggerRequest, at now: Instant, by store: any Store) async throws -> Made {
        let (engine, messages) = (engine, messages)
        return try await store.decide(
            about: .device(request.device, user: request.user), tallies: Self.caps.keys.sorted()
        ) { rows in Self.step(engine.decide(request, rows.state, messages: messages, now: now)) }
    }

    private func report(_ report: Report, at now: Instant, by store: any Store) async throws -> Made {
        let (engine, messages) = (engine, messages)
        return try await store.decide(about: .offer(report.offer), tallies: Self.caps.keys.sorted()) { rows in
            guard !rows.isUnknownOffer else { return InAppStep(Made()) }
            let decision = Result { () throws(ReportFault) in
                try engine.report(report, rows.state, messages: messages, now: now)
            }
            guard case .success(let decision) = decision else { return InAppStep(Made()) }
            return Self.step(decision)
        }
    }

    private func advance(_ device: DeviceID, at now: Instant, by store: any Store) async throws -> Made {
        let (engine, messages) = (engine, messages)
        return try await store.decide(about: .due(device), tallies: []) { rows in
            Self.step(engine.advance(rows.state, messages: messages, now: now))
        }
    }

    private static func step(_ decision: Decision) -> InAppStep<Made> {
        let shown = decision.records.filter { $0.kind == .impression }.compactMap(\.offer)
        return InAppStep(
            Made(offer: decision.answer.offer?.id, shown: shown), changes: decision.changes, nextDue: decision.nextDue)
    }
}
