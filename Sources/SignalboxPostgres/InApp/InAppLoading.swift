import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// Reads the rows of decisions: a fixed number of statements, in at most three round trips, however many decisions
/// there are.
struct InAppLoading {
    /// Sends statements in one round trip.
    let run: ([PostgresStatement]) throws -> [PostgresRows]
    /// The time of the decisions.
    let now: Instant
    /// Nil for reads that lock nothing, such as explanations.
    let locks: Locks?

    struct Locks {
        /// Part of every key, so that queues in several schemas of one database do not wait for each other.
        let schema: String?
    }

    /// Reads the rows of the keys. Adds the devices and users of offers, and the users of devices, to the keys. Throws
    /// ``DamagedValue`` for rows that cannot be read, and ``InAppKeysMissing`` if another transaction changed the user
    /// of a due device meanwhile.
    func load(_ keys: inout InAppKeys) throws -> InAppRowsInMemory {
        try resolve(&keys)
        var (rows, hasTallies) = try loadOwners(keys)
        for device in keys.due {
            if let user = rows.devices[device]?.state.user, rows.users[user] == nil {
                throw InAppKeysMissing { _ = $0.users.insert(user) }
            }
        }
        try loadTallies(keys, hasTallies, &rows)
        return rows
    }

    // MARK: First round trip, for reports and due devices

    /// An offer keeps its device and its user. Unknown offers and devices add no key. Locks nothing: ``load(_:)``
    /// checks the users of due devices again.
    private func resolve(_ keys: inout InAppKeys) throws {
        guard !keys.offers.isEmpty || !keys.due.isEmpty else { return }
        let results = try run([
            PostgresStatement(
                "SELECT device, user_id FROM inapp_offers WHERE id = ANY($1)", [.texts(Array(keys.offers))]),
            PostgresStatement(
                "SELECT user_id FROM inapp_devices WHERE id = ANY($1) AND user_id IS NOT NULL",
                [.texts(Array(keys.due))]),
        ])
        for (device, user) in try results[0].map({ (try $0.text(0), try $0.text(1)) }) {
            keys.add(device: device)
            keys.users.insert(user)
        }
        for user in try results[1].map({ try $0.text(0) }) { keys.users.insert(user) }
    }

    // MARK: Second round trip

    private static let devices = "SELECT \(InAppDeviceRow.columns) FROM inapp_devices WHERE id = ANY($1)"
    private static let users = "SELECT \(InAppUserRow.columns) FROM inapp_users WHERE id = ANY($1)"
    /// All offers of the devices, ended ones too.
    private static let offers = "SELECT \(Offer.columns) FROM inapp_offers WHERE device = ANY($1)"
    /// Of each user, as many as a decision counts.
    private static let leases = """
        SELECT \(Offer.columns) FROM unnest($1) AS owner CROSS JOIN LATERAL (
            SELECT * FROM inapp_offers WHERE user_id = owner AND state = 'O' AND device <> ALL($2)
            LIMIT \(Bounds.leasesElsewhere)
        ) AS leases
        """
    /// Without any tally, the third round trip is left out unless a key or an old total needs it.
    private static let hasTally = "SELECT EXISTS (SELECT 1 FROM inapp_tallies)"

    /// `column`: of the address. The newest first, up to ``StoreLimits/addressedMessages`` and
    /// ``StoreLimits/addressedBytes`` for each owner. Relies on `inapp_messages_user` or `inapp_messages_device`.
    private static func addressed(_ column: String) -> String {
        """
        SELECT \(StoredInAppMessage.columns) FROM unnest($1) AS owner CROSS JOIN LATERAL (
            SELECT *, sum(octet_length(body)) OVER (ORDER BY registered_at DESC, id) AS bytes FROM inapp_messages
            WHERE \(column) = owner AND withdrawn_at IS NULL
            ORDER BY registered_at DESC, id LIMIT \(StoreLimits.addressedMessages)
        ) AS messages WHERE bytes <= \(StoreLimits.addressedBytes)
        """
    }
    private static let toUsers = addressed("user_id")
    private static let toDevices = addressed("device_id")

    /// An owner without a row gets an empty state that is not stored. The locks come first in the same round trip: each
    /// statement has a snapshot of its own, so the reads see all commits of former holders.
    private func loadOwners(_ keys: InAppKeys) throws -> (rows: InAppRowsInMemory, hasTallies: Bool) {
        let (devices, users) = (Array(keys.devices), Array(keys.users))
        let lock = locks.map { PostgresStatement(InAppKeys.lockAll, [.numbers(keys.locksOfOwners(in: $0.schema))]) }
        let results = try run(
            (lock.map { [$0] } ?? []) + [
                PostgresStatement(Self.devices, [.texts(devices)]), PostgresStatement(Self.users, [.texts(users)]),
                PostgresStatement(Self.offers, [.texts(devices)]),
                PostgresStatement(Self.leases, [.texts(users), .texts(devices)]),
                PostgresStatement(Self.toUsers, [.texts(users)]), PostgresStatement(Self.toDevices, [.texts(devices)]),
                PostgresStatement(Self.hasTally),
            ]
        ).suffix(7)
        var rows = InAppRowsInMemory()
        for id in devices { rows.load(.init(DeviceState(id: id))) }
        for id in users { rows.users[id] = .init(UserState(id: id)) }
        var next = results.makeIterator()
        for device in try next.next()?.map(InAppDeviceRow.read) ?? [] { rows.load(device) }
        for user in try next.next()?.map(InAppUserRow.read) ?? [] { rows.users[user.state.id] = user }
        for offer in try next.next()?.map({ try Offer($0) }) ?? [] { rows.load(offer) }
        for offer in try next.next()?.map({ try Offer($0) }) ?? [] { rows.load(offer) }
        for _ in 0..<2 {
            for message in try next.next()?.map({ try StoredInAppMessage($0) }) ?? [] { rows.load(message) }
        }
        return (rows, try next.next()?.first?.flag(0) ?? false)
    }

    // MARK: Third round trip, for limits over all users and for owners on a new day

    /// Sends nothing if no tally and no old total can matter.
    private func loadTallies(
        _ keys: InAppKeys, _ hasTallies: Bool, _ rows: inout InAppRowsInMemory
    ) throws {
        let candidates = rows.oldTotals(at: now)
        guard !keys.tallies.isEmpty || hasTallies || !candidates.isEmpty else { return }
        let messages = rows.liveMessages.union(keys.tallies)
        let lock = locks.map { PostgresStatement(InAppKeys.lockAll, [.numbers(keys.locksOfTallies(in: $0.schema))]) }
        let results = try run(
            (lock.map { [$0] } ?? []) + [
                PostgresStatement(
                    "SELECT message, committed, reserved FROM inapp_tallies WHERE message = ANY($1)",
                    [.texts(Array(messages))]),
                PostgresStatement(
                    """
                    SELECT id FROM unnest($1) AS given (id)
                    WHERE NOT EXISTS (SELECT 1 FROM inapp_messages m WHERE m.id = given.id)
                    """, [.texts(Array(candidates))]),
            ]
        ).suffix(2)
        guard let tallies = results.first, let missing = results.last else { return }
        for (message, tally) in try tallies.map({ (try $0.text(0), try Tally($0, from: 1)) }) {
            rows.tallies[message] = .init(tally)
        }
        rows.missingMessages = ExactTextSet(try missing.map { try $0.text(0) })
    }
}
