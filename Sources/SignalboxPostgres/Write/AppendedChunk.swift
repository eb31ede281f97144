import Foundation
import SignalboxNotification
import SignalboxStore

/// Stored events whose deliveries and records are written together: the columns of their rows.
struct AppendedChunk {
    /// The result of the plan of one delivery.
    struct Plan {
        /// Whether it is handed over in memory: its row says that its first attempt has begun.
        let isFresh: Bool
        /// When it is sent if it is not released before; nil if it does not wait for files.
        let heldUntil: Date?
    }

    /// In the order of their deliveries.
    let stored: [StoredAppend]
    private let now: Date
    /// For each delivery its event in `stored`, and its position among the deliveries of the event.
    private var places: [(event: Int, position: Int)] = []
    private var dues: [Date] = []
    private var isFresh: [Bool] = []
    /// For each event the numbers of its variants; empty if no event has any.
    private var variants: [[Int64]] = []

    init(_ stored: [StoredAppend], at now: Date) { (self.stored, self.now) = (stored, now) }

    /// Whether it has no delivery.
    var isEmpty: Bool { places.isEmpty }

    /// Takes numbers for the variants of events that have deliveries: their rows are written with the deliveries that
    /// refer to them. One round trip if there are any.
    mutating func numberVariants(in transaction: PostgresTransaction) throws {
        let counts = stored.map { $0.routed.deliveries.isEmpty ? 0 : $0.routed.variants.count }
        let count = counts.reduce(0, +)
        guard count > 0 else { return }
        let rows = try transaction.run(
            "SELECT nextval(pg_get_serial_sequence('variants', 'id')) FROM generate_series(1, $1)",
            [.number(Int64(count))])
        var numbers = try rows.map { try $0.number(0) }[...]
        variants = counts.map { count in
            defer { numbers = numbers.dropFirst(count) }
            return Array(numbers.prefix(count))
        }
    }

    /// Plans a delivery of an event. `reserve`: reserves memory for a number of bytes; false when there is none.
    mutating func plan(_ position: Int, of index: Int, reserve: (Int) -> Bool) -> Plan {
        let routed = stored[index].routed
        let order = routed.deliveries[position]
        // An event that was accepted before the clock was set back is due at once.
        var due = order.notBefore.map { max($0, routed.event.acceptedAt) } ?? min(routed.event.acceptedAt, now)
        let until = routed.media == nil ? nil : order.mediaUntil
        if let until {
            let grace = TimeInterval(StoreLimits.releaseGrace) / 1000
            due = max(due, until + grace, now + grace)
        }
        // The table alone tells the first delivery of a key.
        let isReady = until == nil && order.orderKey == nil && order.notBefore.map { $0 <= now } ?? true
        let isFresh = isReady && reserve(body(of: order, routed).count + (routed.payload?.count ?? 0))
        places.append((index, position))
        dues.append(due)
        self.isFresh.append(isFresh)
        return Plan(isFresh: isFresh, heldUntil: until == nil ? nil : due)
    }

    private func body(of order: DeliveryOrder, _ routed: RoutedEvent) -> [UInt8] {
        order.variant.map { routed.variants[$0] } ?? routed.event.body
    }

    private func order(_ place: (event: Int, position: Int)) -> DeliveryOrder {
        stored[place.event].routed.deliveries[place.position]
    }

    /// The leases of fresh deliveries. `numbers`: those of all deliveries.
    func leases(_ numbers: [Int64], holder: UInt64) throws -> [Lease] {
        guard numbers.count == places.count else { throw DamagedValue("a delivery has no number") }
        return places.indices.filter { isFresh[$0] }.map { index in
            let (routed, order) = (stored[places[index].event].routed, order(places[index]))
            var lease = Lease(
                delivery: numbers[index], event: routed.event.id.description, destination: order.destination,
                attempts: 0, body: body(of: order, routed), payload: routed.payload, notAfter: order.notAfter,
                holder: holder)
            lease.readyAt = dues[index]
            return lease
        }
    }

    // MARK: Files

    /// The files that events wait for.
    var mediaRequests: [MediaIntake.Request] {
        stored.compactMap { stored in
            guard let media = stored.routed.media else { return nil }
            let isHeld = stored.routed.deliveries.contains { $0.mediaUntil != nil }
            return MediaIntake.Request(event: stored.number, urls: media.urls, isHeld: isHeld)
        }
    }

    /// The deliveries that wait for files. `numbers`: those of all deliveries. `ready`: events whose files are settled.
    func holds(_ numbers: [Int64], ready: Set<Int64>) -> [MediaIntake.Hold] {
        zip(places, numbers).compactMap { place, number in
            let (stored, order) = (stored[place.event], order(place))
            guard stored.routed.media != nil, let until = order.mediaUntil else { return nil }
            return MediaIntake.Hold(
                delivery: number, event: stored.number, until: until, isReady: ready.contains(stored.number),
                transformRoute: order.transformRoute)
        }
    }

    // MARK: Statements

    /// Inserts the deliveries, and returns their numbers in the order in which they were planned.
    func statement(in transaction: PostgresTransaction) -> PostgresStatement {
        let orders = places.map(order)
        return PostgresStatement(
            Self.insert,
            [
                .number(transaction.node), .numbers(places.map { stored[$0.event].number }),
                .texts(orders.map(\.destination.name)), .numbers(dues.map(\.milliseconds)),
                .numbers(orders.map { $0.notBefore?.milliseconds }), .numbers(orders.map { $0.notAfter?.milliseconds }),
                .texts(orders.map(\.orderKey)),
                .numbers(zip(places, orders).map { place, order in order.variant.map { variants[place.event][$0] } }),
                .flags(isFresh),
            ])
    }

    static let insert = """
        INSERT INTO queue (event, destination, due, not_before, not_after, order_key, variant, holder, begun, lease)
        SELECT event, destination, due, not_before, not_after, \(stored(orderKey: "order_key")), variant,
            CASE WHEN fresh THEN $1 END, fresh::integer, fresh::integer
        FROM unnest($2, $3, $4, $5, $6, $7, $8, $9)
            AS new (event, destination, due, not_before, not_after, order_key, variant, fresh)
        RETURNING id
        """

    /// An expression for the stored form of an order key, which every insertion into `queue` uses. The digest of a long
    /// key is stored instead, because entries of an index are limited to 2,700 bytes. `key`: an expression.
    static func stored(orderKey key: String) -> String {
        """
        CASE WHEN octet_length(\(key)) <= 1000 THEN \(key)
            ELSE 'sha256:' || encode(sha256(convert_to(\(key), 'UTF8')), 'hex') END
        """
    }

    /// Statements without results: variants, payloads for operators, reports.
    var records: [PostgresStatement] { [variantRows, payloadRows, reportRows].compactMap(\.self) }

    /// Equal variants of one event are made once by the caller of the store.
    private var variantRows: PostgresStatement? {
        guard !variants.isEmpty else { return nil }
        let rows = zip(stored, variants).flatMap { stored, numbers in
            zip(numbers, stored.routed.variants).map { (number: $0, event: stored.number, body: $1) }
        }
        return PostgresStatement(
            """
            INSERT INTO variants (id, event, body) OVERRIDING SYSTEM VALUE SELECT * FROM unnest($1, $2, $3)
            """, [.numbers(rows.map(\.number)), .numbers(rows.map(\.event)), .manyBytes(rows.map(\.body))])
    }

    /// Keeps payloads for operators, unless they are stored with their event for a destination.
    private var payloadRows: PostgresStatement? {
        let rows = stored.compactMap { stored -> (event: Int64, lasts: Bool, payload: [UInt8])? in
            let routed = stored.routed
            guard let keeping = routed.event.keeping, let payload = routed.event.payload, routed.payload == nil,
                keeping == .withEvent || !routed.deliveries.isEmpty
            else { return nil }
            return (stored.number, keeping == .withEvent, payload)
        }
        guard !rows.isEmpty else { return nil }
        return PostgresStatement(
            "INSERT INTO payloads (event, lasts, payload) SELECT * FROM unnest($1, $2, $3)",
            [.numbers(rows.map(\.event)), .flags(rows.map(\.lasts)), .manyBytes(rows.map(\.payload))])
    }

    /// Leaves out a report on an id that no event can have: a reader only looks for ids of events.
    private var reportRows: PostgresStatement? {
        let rows = stored.compactMap { stored -> (about: String, event: Int64)? in
            guard let about = stored.routed.about, PostgresValue.isEventID(about) else { return nil }
            return (about, stored.number)
        }
        guard !rows.isEmpty else { return nil }
        return PostgresStatement(
            """
            INSERT INTO reports (about, event) SELECT about::uuid, event FROM unnest($1, $2) AS new (about, event)
            """, [.texts(rows.map(\.about)), .numbers(rows.map(\.event))])
    }
}
