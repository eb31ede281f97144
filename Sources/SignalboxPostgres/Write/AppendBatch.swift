import SignalboxNotification
import SignalboxStore

/// Events that one transaction appends, with their deliveries and all that belongs to them. Takes a fixed number of
/// round trips for each ``chunkBytes``, however many events there are.
///
/// ``finish()`` must be called before the commit: it writes the deliveries and the ledger. A value of one run of a
/// transaction; ``effects`` outlive it.
struct AppendBatch {
    let store: PostgresStore
    let transaction: PostgresTransaction
    /// Applied by the caller after the commit, undone after a failure; see `PostgresStore.commit(on:_:)`.
    var effects = WriteEffects()
    /// How the deliveries of each destination change. The caller adds the changes that it makes itself.
    var moves = DeliveryMoves()
    /// Categories that the transaction has recorded.
    var seen = ExactTextMap<CategoryRecord>()
    /// Whether each destination of new deliveries accepts nothing for now. Read once per transaction, so that all its
    /// deliveries are treated alike.
    private var idle: [DestinationName: Bool] = [:]
    /// Events that are stored, without their deliveries and records.
    private var open: AppendedChunk?
    /// Statements of the caller, for the end of the transaction.
    private var last: [PostgresStatement] = []

    /// The most bytes of events that one statement carries, as far as a single event is not larger. Bounds the memory
    /// of a group of large requests.
    static let chunkBytes = 4 << 20
    /// The most events that one statement carries.
    static let chunkEvents = 4096

    init(_ store: PostgresStore, _ transaction: PostgresTransaction) {
        (self.store, self.transaction) = (store, transaction)
    }

    /// Appends events and the followers of each; returns whether each was inserted: false for an event with a lasting
    /// id that is stored already, whose followers are dropped. Throws for another id that is in use.
    @discardableResult
    mutating func insert(_ events: [RoutedEvent]) throws -> [Bool] {
        var isInserted: [Bool] = []
        isInserted.reserveCapacity(events.count)
        var rest = events[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Self.chunkCount(of: rest))
            rest = rest.dropFirst(chunk.count)
            isInserted += try insert(chunk: chunk)
        }
        if isInserted.contains(true) { effects.storesEvents = true }
        return isInserted
    }

    /// Sends statements without results at the end of the transaction, in the round trip of the ledger.
    mutating func add(_ statements: [PostgresStatement]) { last += statements }

    /// Writes the rest, and the ledger. The last call of a batch.
    mutating func finish() throws {
        let ledger = moves.statement(in: transaction).map { [$0] } ?? []
        let statements = last + ledger
        last = []
        if open != nil {
            try flush(statements)
        } else if !statements.isEmpty {
            try transaction.run(all: statements)
        }
        effects.ends = moves.ends
    }

    // MARK: Chunks

    /// At least 1.
    private static func chunkCount(of events: ArraySlice<RoutedEvent>) -> Int {
        var (count, bytes) = (0, 0)
        for event in events {
            bytes += event.event.body.count + (event.payload?.count ?? event.event.payload?.count ?? 0)
            bytes += event.variants.reduce(0) { $0 + $1.count }
            if count > 0, bytes > chunkBytes || count == chunkEvents { break }
            count += 1
        }
        return count
    }

    private mutating func insert(chunk: ArraySlice<RoutedEvent>) throws -> [Bool] {
        if open != nil { try flush([]) }
        let events = Array(chunk)
        let numbers = try store(events)
        // The followers of repeats are dropped, so they come second.
        let followers = zip(events, numbers).flatMap { $1 == nil ? [] : $0.followers }
        var followerNumbers = try followers.isEmpty ? [] : store(followers)[...]
        var stored: [StoredAppend] = []
        stored.reserveCapacity(events.count + followers.count)
        for (event, number) in zip(events, numbers) {
            guard let number else { continue }
            stored.append(StoredAppend(number: number, routed: event))
            for follower in event.followers {
                guard let number = followerNumbers.popFirst() else { break }
                if let number { stored.append(StoredAppend(number: number, routed: follower)) }
            }
        }
        guard !stored.isEmpty else { return numbers.map { $0 != nil } }
        try plan(stored)
        return numbers.map { $0 != nil }
    }

    /// Plans the deliveries of stored events.
    private mutating func plan(_ stored: [StoredAppend]) throws {
        var chunk = AppendedChunk(stored, at: transaction.now)
        try chunk.numberVariants(in: transaction)
        for index in stored.indices {
            for position in stored[index].routed.deliveries.indices {
                let destination = stored[index].routed.deliveries[position].destination
                let isIdle = accept(destination)
                let planned = chunk.plan(position, of: index) { bytes in !isIdle && reserve(bytes, for: destination) }
                if let due = planned.heldUntil {
                    effects.expected[destination] = min(effects.expected[destination] ?? due, due)
                } else if !planned.isFresh {
                    effects.spilled.insert(destination)
                }
            }
        }
        open = chunk
    }

    /// Counts a new delivery. Returns whether its destination accepts nothing for now.
    private mutating func accept(_ destination: DestinationName) -> Bool {
        moves.begin(destination)
        if let isIdle = idle[destination] { return isIdle }
        let isIdle = !store.isActive(destination)
        idle[destination] = isIdle
        return isIdle
    }

    /// Reserves room in memory for a delivery; false when there is none.
    private mutating func reserve(_ bytes: Int, for destination: DestinationName) -> Bool {
        let isReserved = store.lanes.withHandOff { $0.reserve(bytes, for: destination) }
        if isReserved { effects.reserved.append((destination, bytes)) }
        return isReserved
    }

    /// Writes the deliveries and the records of the open chunk, in one round trip with `others`. Each kind of files and
    /// messages takes further ones.
    private mutating func flush(_ others: [PostgresStatement]) throws {
        guard let chunk = open.take() else { return }
        let messages = chunk.stored.flatMap(\.routed.messages)
        if !messages.isEmpty { effects.messages += try store.registerFromPayload(messages, in: transaction) }
        let media = MediaIntake(transaction)
        let requests = chunk.mediaRequests
        // The events whose files are all settled.
        let ready = requests.isEmpty ? [] : try media.request(requests)
        if !requests.isEmpty { effects.wakesDownloads = true }
        try media.use(chunk.stored.filter { !$0.routed.files.isEmpty }.map { ($0.number, $0.routed.files) })
        var statements = chunk.records + categories(of: chunk.stored) + others
        let isDelivering = !chunk.isEmpty
        if isDelivering { statements.insert(chunk.statement(in: transaction), at: 0) }
        let results = statements.isEmpty ? [] : try transaction.run(all: statements)
        let numbers = isDelivering ? try results.first?.map { try $0.number(0) } ?? [] : []
        try media.hold(chunk.holds(numbers, ready: ready))
        let leases = try chunk.leases(numbers, holder: UInt64(bitPattern: transaction.node))
        store.lanes.withHandOff { handOff in
            for lease in leases { handOff.withLane(lease.destination) { $0.hold(lease) } }
        }
        // Their leases have the room that was reserved for them.
        effects.reserved = []
        effects.fresh += leases
    }
}

/// A stored event of a batch.
struct StoredAppend {
    /// `events.seq`.
    let number: Int64
    let routed: RoutedEvent
}
