import Hummingbird
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// Deliveries and metrics, for operators. A value of one config. Reads and changes go through the queue, so
/// several gateways and commands see the same state.
struct OperationsAPI: Sendable {
    /// Its reads see the last commit.
    let queue: any InspectionStore
    /// The destinations of the config.
    let destinations: [DestinationName]
    /// The destinations with a rate.
    let limited: Set<DestinationName>
    /// Counts forwarded pushes.
    let forwards: ForwardLedger
    /// Schedules the deadlines of requests.
    var delayed = DelayedCall.onQueue

    // MARK: Deliveries

    /// In cursors of deliveries.
    private static let list: StaticString = "d"

    /// Pages go from new to old. At most 500 deliveries, 50 by default. A page that is not `complete` ended because the
    /// filter matched too few of the deliveries that one request examines; `next` continues. Throws 400 for an invalid
    /// query and 503 when the queue does not answer. Deliveries that are appended while a client pages have larger
    /// numbers, so they do not shift the pages.
    func listDeliveries(_ call: Call) async throws -> Response {
        var filter = try filter(call)
        let limit = try call.pageSize()
        try await requireDestination(of: filter)
        filter.before = try call.number(in: Self.list)
        let chosen = filter
        let (page, statuses) = try await delayed.reply { () throws(StoreError) in
            (
                try await queue.deliveryPage(chosen, limit: limit, examining: StoreLimits.scannedRows),
                try await queue.statuses()
            )
        }
        return .json { json in
            json.array("deliveries", of: page.records) {
                $0.delivery($1, wait: wait(of: $1, statuses), hidesReply: call.hidesContent)
            }
            if let next = page.next { json.member("next", PageCursor.text(String(next), in: Self.list)) }
            json.member("complete", page.isComplete)
        }
    }

    /// Throws 404 for a destination that neither the config nor the queue knows. Without this check, a misspelled name
    /// would select no delivery and look like an empty queue.
    func requireDestination(of filter: DeliveryFilter) async throws(Problem) {
        guard let name = filter.destination, !destinations.contains(name) else { return }
        let isKnown = try await delayed.reply { () throws(StoreError) in try await queue.knows(name) }
        guard isKnown else { throw .noDestination(name.name) }
    }

    /// Reads the conditions of the query. All of them must hold. Throws 400 for an invalid one. An unknown event or
    /// vendor matches no delivery.
    private func filter(_ call: Call) throws(Problem) -> DeliveryFilter { try DeliveryFilter { call.query($0.name) } }

    /// Lists every recorded attempt, the first one first. Throws 404 for an unknown delivery. The delivery is read
    /// first and its attempts afterwards, so an attempt that ends in between may be in the log only.
    func showDelivery(_ call: Call) async throws -> Response {
        let record = try await record(call)
        let (attempts, statuses) = try await delayed.reply { () throws(StoreError) in
            (try await queue.attempts(of: record.id), try await queue.statuses())
        }
        let body = [UInt8].json {
            $0.delivery(record, wait: wait(of: record, statuses), attempts: attempts, hidesReply: call.hidesContent)
        }
        return Response(Reply(status: .ok, body: body))
    }

    /// Nil when the delivery does not wait. The clock is that of the queue, by which deliveries become due.
    func wait(of record: DeliveryRecord, _ statuses: [DestinationName: DestinationStatus]) -> DeliveryWait? {
        let name = record.destination
        return DeliveryWait(
            of: record, status: statuses[name], isKnown: destinations.contains(name),
            hasRate: limited.contains(name), at: queue.now)
    }

    /// The delivery that the path names. Throws 404 for an unknown number, and for text that is not a number.
    private func record(_ call: Call) async throws(Problem) -> DeliveryRecord {
        let text = call.path("id")
        guard let id = Int64(text) else { throw .noDelivery(text) }
        let records = try await delayed.reply { () throws(StoreError) in
            try await queue.deliveries(DeliveryFilter(ids: [id]), limit: 1)
        }
        guard let record = records.first else { throw .noDelivery(text) }
        return record
    }

    /// Throws 404 for an unknown delivery, and 409 for one that has ended successfully or expired. The running lane
    /// attempts it at once. Also 409 for a delivery that waits for media, which is sent when its files have arrived.
    /// Answers `{"due": 1}`.
    func retryDelivery(_ call: Call) async throws -> Response {
        let id = try await record(call).id
        let count = try await delayed.reply { () throws(StoreError) in
            try await queue.retry(DeliveryFilter(ids: [id]), as: call.action)
        }
        // Read again, because the delivery may have changed since.
        guard count == 1 else { throw Problem.notRetried(try await record(call)) }
        return .json { $0.member("due", count) }
    }

    // MARK: The queue

    /// Reads the queue several times; the values may differ by a commit. Waits for the queue for at most
    /// ``StoreLimits/longestCommit``, which is less than a scrape of Prometheus waits by default.
    func metrics(
        _ surface: GatewaySurface, _ providers: ProviderValues, _ failedTokens: FailedTokens, server: ServerCounters,
        streams: Int
    ) async -> MetricValues {
        var values = await queueValues(surface.inApp)
        let gauges = values?.gauges ?? [:]
        let shown = MetricValues.shown(Set(destinations), gauges, values?.statuses ?? [:])
        values?.gauges = MetricValues.bounded(gauges, to: shown)
        return MetricValues(
            queue: values, destinations: shown, left: Set(shown).subtracting(destinations), health: queue.health,
            fleet: queue.fleet, providers: providers, certificateEnd: surface.tls?.notAfter,
            inApp: InAppValues(surface.inApp), counters: surface.observation.counters, server: server,
            streams: streams, failedTokens: failedTokens.values, forwards: forwards,
            routes: MetricValues.bounded(surface.routes.counters),
            failures: surface.failures.rules.entries.prefix(MetricValues.Bounds.rules).map { ($0.rule.name, $0.taken) },
            config: surface.routes.status, process: .current, version: surface.version, now: queue.now)
    }

    /// Nil if the queue does not answer in time.
    private func queueValues(_ inApp: InAppFlow) async -> QueueValues? {
        do throws(StoreError) {
            return try await delayed.answer(
                of: { () throws(StoreError) in
                    QueueValues(
                        statuses: try await queue.statuses(), gauges: try await queue.gauges(),
                        media: try await queue.mediaGauges(), dueDevices: try await inApp.dueDevices(),
                        space: try await queue.space())
                }, within: StoreLimits.longestCommit)
        } catch {
            // `signalbox_queue_readable` says so, and `/readyz` names the reason.
            return nil
        }
    }
}
