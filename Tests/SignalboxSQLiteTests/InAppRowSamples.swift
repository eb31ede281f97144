import Foundation
import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStoreTesting

@testable import SignalboxSQLite
@testable import SignalboxStore

extension SQLiteQueue {
    /// Registers a message and writes a row of each in-app table, of a device and a user among a few. No member of a
    /// row is missing.
    func writeInAppRows(_ number: Int, at date: Date) async throws {
        let (device, user, message) = ("d\(number % 5)", "u\(number % 3)", "m\(number)")
        let now = date.milliseconds
        let addresses: [InAppRegistration.Address?] = [nil, .device(device), .user(user)]
        _ = try await register(
            InAppRegistration(id: message, body: Array("{}".utf8), address: addresses[number % 3], end: now))
        try await decide(about: .device(device, user: user), tallies: [message]) { rows in
            var row = rows.state.device
            row.fill(user, at: now)
            let offer = Offer(number, message, device, user, at: now)
            let display = Ledger.Display(
                offer: offer.id, at: now, message: message, vendor: "own", device: "other", session: 1,
                namedLimits: ["weekly"])
            let ledgers = [RowChange.Subject.user(user), .device(device)].flatMap { subject in
                let total = RowChange.total(subject, .message(message), Ledger.Total(count: 1, last: now))
                return [RowChange.display(subject, display), total]
            }
            let changes: [RowChange] = [
                .user(user, lastNow: now), .device(row), .offer(offer), .tally(message, committed: 1, reserved: 1),
            ]
            return InAppStep((), changes: changes + ledgers, nextDue: now)
        }
    }

    /// Moves the displays and totals of all users and devices to rows of their own, as a former version kept them.
    func spreadLedgers() async throws {
        try await file.pool.write { db in
            for (kind, table) in ["inapp_users", "inapp_devices"].enumerated() {
                for row in try db.rows("SELECT id, ledger FROM \(table) WHERE ledger IS NOT NULL") {
                    let owner = try row.text(0)
                    let ledger = try row.bytes(1).withUnsafeBytes { try LedgerFields.read($0, of: owner) }
                    for display in ledger.displays { try db.insert(display, of: owner, kind) }
                    for (key, total) in ledger.totals {
                        try db.run(
                            "INSERT INTO inapp_totals VALUES (?, ?, ?, ?, ?, ?)",
                            [kind, owner, key.columns.what, key.columns.name, total.count, total.last])
                    }
                }
                try db.execute(sql: "UPDATE \(table) SET ledger = NULL")
            }
        }
    }

    /// Lets no device be due.
    func endInAppDue(at date: Date) async throws {
        for device in try await dueDevices(at: date.milliseconds, upTo: 100) {
            try await decide(about: .due(device), tallies: []) { InAppStep((), changes: [.device($0.state.device)]) }
        }
    }

    /// Calls every in-app operation that reads.
    func readInAppRows(at date: Date) async {
        for message in (try? await messages(after: nil, upTo: 100, includingWithdrawn: true)) ?? [] {
            _ = try? await self.message(message.registration.id)
        }
        for device in (try? await dueDevices(at: date.milliseconds, upTo: 100)) ?? [] {
            _ = try? await rows(of: .due(device), tallies: [])
        }
        for number in 0..<5 {
            _ = try? await rows(of: .device("d\(number)", user: "u\(number)"), tallies: ["m\(number)"])
            _ = try? await rows(of: .offer("of_\(number)"), tallies: [])
        }
        _ = try? await nextInAppDue()
    }
}

extension Database {
    fileprivate func insert(_ display: Ledger.Display, of owner: String, _ kind: Int) throws {
        var names = FieldWriter()
        for name in display.namedLimits { names.add(1, name) }
        let device: String? = display.device == owner ? nil : display.device
        let limits: Data? = display.namedLimits.isEmpty ? nil : Data(names.bytes)
        try run(
            """
            INSERT INTO inapp_displays (kind, owner, \(Ledger.Display.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                kind, owner, display.offer, display.at, display.message, display.vendor, device, display.session,
                display.isExempt, display.count, limits,
            ])
    }
}

extension DeviceState {
    fileprivate mutating func fill(_ newUser: UserID, at now: Instant) {
        (user, lastNow, lastSeen, lastEnd, lastWalkthrough) = (newUser, now, now, now, "m0")
        client.topics = ["news"]
        answers = [.init(key: "k", offer: "of_1")]
        recent = [.init(event: .event(name: "buy", properties: ["total": .number(1)]), at: now)]
    }
}

extension Offer {
    /// No member is missing. Offers with an even number are leased, the others have ended.
    init(_ number: Int, _ message: MessageID, _ device: DeviceID, _ user: UserID, at now: Instant) {
        self.init(
            id: "of_\(number)", device: device, user: user, message: message, revision: 1, vendor: "own",
            kind: .modal, state: number % 2 == 0 ? .offered : .done, triggeredAt: now, due: now, lapse: now,
            flags: .tallied, namedLimits: ["weekly"], session: 1)
        (until, leaseUntil, shownAt, endedAt) = (now, now, now, now)
        (reason, reports, page) = ("x", [AcceptedReport(key: "r", offer: "of_2")], "home")
        slot = SlotLabel("top", productID: "p", sku: "s")
    }
}
