package import Foundation
package import SignalboxJSON
package import SignalboxModel
package import SignalboxRouting
package import SignalboxStore

/// Takes what senders hand in: every payload becomes an event, gets its destinations, and is on disk before anyone is
/// told that it was accepted.
package struct Intake: Sendable {
    /// The most payloads in one batch.
    package static let batchLimit = 10_000

    private let normalizer: Normalizer
    private let routes: RouteTable
    private let queue: SQLiteQueue
    private let vendors: [SourceName: VendorID]
    private let payloadParsers = ParserPool.forPayloads()
    private let eventParsers = ParserPool.forEvents()
    private let now: @Sendable () -> Date

    /// `vendors`: whose payloads a source hands in, where the config says so.
    package init(
        normalizer: Normalizer, routes: RouteTable, queue: SQLiteQueue, vendors: [SourceName: VendorID] = [:],
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.normalizer = normalizer
        self.routes = routes
        self.queue = queue
        self.vendors = vendors
        self.now = now
    }

    /// What became of the payloads of one request, in their order.
    package struct Report: Sendable {
        package let items: [Result<RoutedEvent, Rejection>]
        /// False when the body was one payload and nothing else.
        package let isBatch: Bool
    }

    /// Why a request was not taken at all; nothing of it was.
    package enum Failure: Error, Sendable {
        case tooManyPayloads
        case store(StoreError)
    }

    /// Takes a body that holds one payload, a JSON array of them, or NDJSON. When it returns, what was accepted is
    /// durable.
    package func accept(_ body: [UInt8], from source: SourceName) async throws(Failure) -> Report {
        let report = try payloadParsers.withParser { (parser) throws(Failure) in
            try read(body, from: source, with: parser)
        }
        do throws(StoreError) {
            try await queue.append(report.items.compactMap { try? $0.get() })
        } catch {
            throw .store(error)
        }
        return report
    }

    private func read(_ body: [UInt8], from source: SourceName, with parser: JSONParser) throws(Failure) -> Report {
        var blocks = PayloadBlocks()
        body.withUnsafeBytes { blocks.append($0) }
        blocks.finish()
        let reception = Reception(from: source, at: now(), vendor: vendors[source])
        var items: [Result<Event, Rejection>] = []
        var isTooLong = false
        // Counted as they come: how many payloads a line holds shows only when it is read.
        blocks.take().read(by: normalizer, as: reception, with: parser) { item in
            isTooLong = items.count == Self.batchLimit
            if !isTooLong { items.append(item) }
            return !isTooLong
        }
        if isTooLong { throw .tooManyPayloads }
        let routed = eventParsers.withParser { parser in items.map { routes.route($0, with: parser) } }
        return Report(items: routed, isBatch: blocks.isArray || items.count > 1)
    }
}

extension RouteTable {
    /// Gives an event the destinations that the routes name, deciding over its bytes as they will be delivered; a
    /// rejection stays one. `parser`: from ``ParserPool/forEvents()``.
    package func route(
        _ result: Result<Event, Rejection>, with parser: JSONParser
    ) -> Result<RoutedEvent, Rejection> {
        result.flatMap { event in
            parser.reset()
            do throws(JSONError) {
                let decision = decide(try parser.parse(event.body))
                return .success(
                    RoutedEvent(
                        event: event, routes: decision.routes,
                        deliveries: decision.targets.map { DeliveryOrder(of: event, to: $0) }))
            } catch {
                // Well-formed for certain: what is left is an event larger than any parser of ours takes.
                return .failure(
                    Rejection(.tooLarge, at: Place(), "The event made of this payload is too large: send less of it."))
            }
        }
    }
}

extension DeliveryOrder {
    fileprivate init(of event: Event, to target: RouteTable.Target) {
        self.init(
            to: target.destination, notBefore: target.ignoring.contains(.notBefore) ? nil : event.notBefore,
            notAfter: target.ignoring.contains(.notAfter) ? nil : event.notAfter, orderKey: target.orderKey)
    }
}
