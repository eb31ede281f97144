import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

extension SQLiteWriter {
    func append(
        _ events: [RoutedEvent], _ request: IdempotentRequest?, in db: Database, _ transaction: inout Transaction
    ) throws -> AppendResult {
        if let request, let earlier = try answer(to: request, in: db) { return earlier }
        var duplicates: [Int: String] = [:]
        for (position, event) in events.enumerated() {
            if let earlier = try duplicate(event, in: db) {
                duplicates[position] = earlier
            } else if try insert(event, in: db, &transaction) {
                for follower in event.followers { try insert(follower, in: db, &transaction) }
            } else {
                duplicates[position] = event.event.id.description
            }
        }
        if let request { try remember(request, request.answer(duplicates), at: transaction.now, in: db) }
        return .appended(duplicates: duplicates)
    }

    /// False for an event with a lasting id that is there already: then nothing is written.
    @discardableResult
    func insert(_ routed: RoutedEvent, in db: Database, _ transaction: inout Transaction) throws -> Bool {
        let event = routed.event
        let sequence = try transaction.rows.nextEvent(in: db)
        guard try transaction.rows.add(NewEvent(sequence: sequence, routed: routed), in: db) else { return false }
        if let category = event.category { try note(category, in: db, &transaction) }
        if !routed.files.isEmpty { try note(routed.files, of: sequence, in: db, &transaction) }
        var hasFiles: Bool?
        if let media = routed.media {
            let isHeld = routed.deliveries.contains { $0.mediaUntil != nil }
            hasFiles = try note(media, of: sequence, isHeld: isHeld, in: db, &transaction)
        }
        guard !routed.deliveries.isEmpty else { return true }
        let variants = try routed.variants.map { try insert(variant: $0, of: sequence, in: db) }
        for (position, order) in routed.deliveries.enumerated() {
            let row = EventRow(
                sequence: sequence, variant: order.variant.map { variants[$0] }, hasFiles: hasFiles)
            try insert(order, at: position, of: routed, row, in: db, &transaction)
        }
        return true
    }

    private func insert(
        _ order: DeliveryOrder, at position: Int, of routed: RoutedEvent, _ event: EventRow, in db: Database,
        _ transaction: inout Transaction
    ) throws {
        let accepted = routed.event.acceptedAt
        let destination = order.destination
        let isNow = order.notBefore.map { $0 <= transaction.now } ?? true
        let body = order.variant.map { routed.variants[$0] } ?? routed.event.body
        let size = body.count + (routed.payload?.count ?? 0)
        let until = event.hasFiles == nil ? nil : order.mediaUntil
        var due = max(accepted, order.notBefore ?? accepted)
        if let until { due = max(due, until + Self.releaseGrace, transaction.now + Self.releaseGrace) }
        // Only this thread takes room, so that there still is some afterwards. Who takes nothing begins nothing.
        let isIdle = transaction.accept(destination) { lanes.state(of: destination) != nil }
        let goesOn =
            isNow && until == nil && !isIdle && lanes.withHandOff { $0.hasRoom(for: size, to: destination) }
        let delivery = try transaction.rows.nextDelivery(in: db)
        try transaction.rows.add(
            NewDelivery(
                id: delivery, event: event.sequence, routed: routed, position: position, due: due, isBegun: goesOn,
                variant: event.variant),
            in: db)
        if let until, let isReady = event.hasFiles {
            try hold(
                delivery, of: event.sequence, until: until, isReady: isReady, shape: order.transformRoute, in: db,
                &transaction)
            return transaction.media.expect(destination, at: due)
        }
        guard goesOn else {
            transaction.spilled.insert(destination)
            return
        }
        let lease = Lease(
            delivery: delivery, event: routed.event.id.description, destination: destination, attempts: 0,
            body: body, payload: routed.payload, notAfter: order.notAfter)
        lanes.withHandOff { $0.reserve(lease) }
        transaction.fresh.append(lease)
    }

    /// An event's row, as those of its deliveries name it.
    private struct EventRow {
        let sequence: Int64
        /// Row of the variant that this delivery carries.
        let variant: Int64?
        /// Whether the files that deliveries wait for are all there; nil where none waits.
        let hasFiles: Bool?
    }

    private func insert(variant: [UInt8], of event: Int64, in db: Database) throws -> Int64 {
        let statement = try RowStatement(db, sql: "INSERT INTO variants (event, body) VALUES (?, ?)")
        try statement.run { row in
            row.bind(event)
            row.bind(variant)
        }
        return db.lastInsertedRowID
    }

    // MARK: Repeats

    private func answer(to request: IdempotentRequest, in db: Database) throws -> AppendResult? {
        let row = try StoredRow.fetchOne(
            db.cachedStatement(
                sql: "SELECT digest, status, answer FROM requests WHERE source = ? AND key = ? AND at > ?"),
            arguments: [request.source.name, request.key, request.since.milliseconds])
        guard let row else { return nil }
        guard try row.bytes(0) == request.digest else { return .conflicting }
        return .repeated(StoredAnswer(status: try row.httpStatus(1), body: try row.bytes(2)))
    }

    private func remember(
        _ request: IdempotentRequest, _ answer: StoredAnswer, at now: Date, in db: Database
    ) throws {
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO requests (source, key, digest, answer, status, at) VALUES (?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            request.source.name, request.key, Data(request.digest), Data(answer.body), answer.status,
            now.milliseconds,
        ])
    }

    /// The id of the event that this one repeats; otherwise it is noted as the first.
    private func duplicate(_ routed: RoutedEvent, in db: Database) throws -> String? {
        guard let dedupe = routed.dedupe else { return nil }
        // No source has a name like this.
        let source = dedupe.scope == .all ? "*" : routed.event.source.name
        let earlier = try String.fetchOne(
            db.cachedStatement(sql: "SELECT event FROM duplicates WHERE source = ? AND key = ? AND at > ?"),
            arguments: [source, dedupe.key, dedupe.since.milliseconds])
        if let earlier { return earlier }
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO duplicates (source, key, event, at) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [
            source, dedupe.key, routed.event.id.description, routed.event.acceptedAt.milliseconds,
        ])
        return nil
    }
}
