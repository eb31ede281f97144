import SignalboxInApp

/// Decisions about in-app messages over rows in memory, for benchmarks.
public struct InAppMeasure {
    /// Displays in the history of each user.
    public static let displays = 20
    /// Messages of each event's name: the candidates of a decision.
    public static let candidates = 4

    private static let start: Instant = 1_795_348_800_000
    private static let vendors = ["braze", "synerise", "mce", "acme"]

    private let engine: InAppEngine
    private let messages: ActiveMessages
    private let states: [InAppState]
    private let requests: [TriggerRequest]

    /// `messages`: of all vendors, each with a filter and limits, ``candidates`` of them for each event. `users`: each
    /// with a device and a history of ``displays`` impressions.
    public init(messages count: Int, users: Int) throws {
        var policy = Policy()
        policy.limits = [
            Limit(8, .rolling(86_400_000), owner: .scope, name: "all"),
            Limit(4, .day(.user), owner: .vendor("braze"), name: "braze"),
        ]
        try policy.validate()
        engine = InAppEngine(policy: policy)
        messages = ActiveMessages(MessageIndex(try (0..<count).map { try Definition(Self.message($0)) }))
        states = (0..<users).map { Self.state($0, messages: count) }
        requests = (0..<1024).map { Self.request($0, names: max(1, count / Self.candidates)) }
    }

    /// Decides about triggers of different users in turn. Returns the number of offers.
    public func decide(_ count: Int) -> Int {
        var offers = 0
        for number in 0..<count {
            let state = states[number * 7919 % states.count]
            var request = requests[number % requests.count]
            request.device = state.device.id
            request.user = state.user.id
            let decision = engine.decide(request, state, messages: messages, now: Self.start + 60_000)
            if decision.answer.offer != nil { offers += 1 }
        }
        return offers
    }

    private static func message(_ number: Int) -> Message {
        let filter = Filter([
            [Filter.Condition("total", .greaterThan(Double(number % 7)))],
            [Filter.Condition("country", .oneOf([.text("PL"), .text("DE"), .text("US")]))],
        ])
        var message = Message(
            id: "message-\(number)", vendor: vendors[number % vendors.count], kind: .modal,
            triggers: [.event(name: "event-\(number / candidates)", filter: filter)], reEligibility: .always,
            registeredAt: start - Instant(number) * 1000)
        message.rank = 100 + number % 800
        message.limits = [Limit(3, .rolling(7 * 86_400_000))]
        message.schedule = Message.Schedule(start: start - 86_400_000, end: start + 30 * 86_400_000)
        return message
    }

    private static func state(_ number: Int, messages: Int) -> InAppState {
        let (user, device) = ("user-\(number)", "device-\(number)")
        let history = (0..<displays).map { display in
            Ledger.Display(
                offer: "of_\(number)-\(display)", at: start - Instant(display + 1) * 9 * 3_600_000,
                message: "message-\((number * 31 + display * 17) % messages)",
                vendor: vendors[(number + display) % vendors.count], device: device, session: display)
        }
        var totals: [Ledger.Key: Ledger.Total] = [:]
        for display in history {
            for key in [Ledger.Key.message(display.message), .vendor(display.vendor), .scope] {
                totals[key] = Ledger.Total(
                    count: (totals[key]?.count ?? 0) + 1, last: max(totals[key]?.last ?? 0, display.at))
            }
        }
        var person = UserState(id: user)
        person.ledger = Ledger(displays: history, totals: totals)
        var phone = DeviceState(id: device)
        phone.user = user
        phone.session = displays
        phone.lastEnd = start - 9 * 3_600_000
        phone.ledger = person.ledger
        return InAppState(user: person, device: phone, offers: history.prefix(2).map { offer(of: $0, user) })
    }

    /// An offer that was shown and dismissed, still kept to recognise repeated reports.
    private static func offer(of display: Ledger.Display, _ user: UserID) -> Offer {
        var offer = Offer(
            id: display.offer, device: display.device, user: user, message: display.message, revision: 1,
            vendor: display.vendor, kind: .modal, state: .done, triggeredAt: display.at, due: display.at, lapse: nil,
            flags: [], namedLimits: [], session: display.session)
        offer.shownAt = display.at
        offer.endedAt = display.at + 5000
        offer.reason = "user"
        return offer
    }

    private static func request(_ number: Int, names: Int) -> TriggerRequest {
        let properties: [String: PropertyValue] = [
            "total": .number(Double(number % 90)), "country": .text(number % 5 == 0 ? "FR" : "PL"),
            "items": .number(3), "currency": .text("EUR"), "returning": .boolean(true),
        ]
        return TriggerRequest(
            id: "trigger-\(number)", device: "", user: nil,
            event: .event(name: "event-\(number % names)", properties: properties),
            client: ClientState(foreground: true, screen: "cart"), ticket: "of_\(number)")
    }
}
