import Foundation
import SignalboxInApp
import SignalboxSQLite
import SignalboxStore

/// Decisions about in-app messages over rows in memory, for benchmarks. The rows and requests are made once and equal
/// in every run, so results are comparable.
public struct InAppMeasure {
    /// Displays in the history of each user.
    public static let displays = 20
    /// Messages of each event's name: the candidates of a decision.
    public static let candidates = 4

    /// In milliseconds since 1970. Displays lie before it, decisions after it.
    private static let start: Instant = 1_795_348_800_000
    /// One of them has a limit of its own.
    private static let vendors = ["braze", "synerise", "mce", "acme"]

    /// Limits by scope and by vendor, as a team with two rules would configure them.
    private let engine: InAppEngine
    /// An index by trigger, as the gateway keeps it.
    private let messages: ActiveMessages
    /// One for each user, with a device, a history and two offers that have ended.
    private let states: [InAppState]
    /// 1024 different requests, so that no decision repeats the previous request.
    private let requests: [TriggerRequest]

    /// `messages`: the number of messages. They are of several vendors, have a filter and limits each, and
    /// ``candidates`` of them name the same event. `users`: the number of users. Each has a device and a history of
    /// ``displays`` impressions. Throws if the policy or a message is invalid, which is a defect of the measure.
    /// Takes memory for all users.
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

    /// Decides about triggers of different users in turn. Returns the number of offers. Changes no row: each decision
    /// sees the same history. Runs on the caller's thread.
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

    /// Writes users with a device and two displays each into the store of a data directory. 256 writers share
    /// commits. Durable when it returns. Throws errors of the store.
    public static func fill(directory: String, users: Int) async throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let queue = try SQLiteQueue(in: directory)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let writers = 256
            for writer in 0..<writers {
                group.addTask {
                    for number in stride(from: writer, to: users, by: writers) {
                        let (user, device) = ("user-\(number)", "device-\(number)")
                        try await queue.decide(about: .device(device, user: user), tallies: []) { rows in
                            InAppStep((), changes: history(of: user, device, rows.state.device))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        await queue.finish()
        try await queue.checkpoint()
    }

    /// Kilobytes that a decision about one of these users reads from the file, which ``fill(directory:users:)`` wrote.
    /// SQLite keeps 2 MB of the file in memory, so that few of the pages that many users share are read again.
    public static func readKB(directory: String, users: Int) async throws -> Double {
        let queue = try SQLiteQueue(in: directory)
        let decisions = 2000
        var start = 0.0
        for number in -100..<decisions {
            // After some decisions that open the connection and fill its memory.
            if number == 0 { start = try readBytes() }
            let user = (number + 100) * 7919 % users
            try await queue.decide(about: .device("device-\(user)", user: "user-\(user)"), tallies: []) { rows in
                precondition(rows.state.user.ledger.displays.count == 2, "The user has no history.")
                return InAppStep(())
            }
        }
        let bytes = try readBytes() - start
        await queue.finish()
        return bytes / Double(decisions) / 1024
    }

    /// Bytes that this process has read so far, from the kernel.
    private static func readBytes() throws -> Double {
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("rchar:") }
        return line.flatMap { Double($0.dropFirst(6).filter(\.isNumber)) } ?? 0
    }

    /// Two displays, with the totals that decisions would have counted.
    private static func history(of user: UserID, _ device: DeviceID, _ row: DeviceState) -> [RowChange] {
        var row = row
        row.user = user
        row.session = 2
        row.lastEnd = start - 86_400_000
        var changes: [RowChange] = [.user(user, lastNow: start - 86_400_000), .device(row)]
        for subject in [RowChange.Subject.user(user), .device(device)] {
            for number in 1...2 {
                let display = Ledger.Display(
                    offer: "of_\(user)-\(number)", at: start - Instant(number) * 86_400_000, message: "m-\(number)",
                    vendor: "braze", device: device, session: number)
                changes.append(.display(subject, display))
                changes.append(.total(subject, .message(display.message), Ledger.Total(count: 1, last: display.at)))
            }
            for key in [Ledger.Key.vendor("braze"), .scope] {
                changes.append(.total(subject, key, Ledger.Total(count: 2, last: start - 86_400_000)))
            }
        }
        return changes
    }

    /// Registered one second before the previous one, with a rank that repeats every 800 messages.
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

    /// Displays are nine hours apart.
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

    /// Its properties match the filter of most messages.
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
