package import Foundation
package import SignalboxJSON
package import SignalboxModel
package import SignalboxRouting
package import SignalboxStore
import Synchronization

/// Takes what senders hand in: every payload becomes an event, gets its destinations, and is on disk before anyone is
/// told that it was accepted.
package struct Intake: Sendable {
    /// The most payloads in one batch.
    package static let batchLimit = 10_000

    private let normalizer: Normalizer
    private let routes: RouteTable
    private let queue: SQLiteQueue
    private let parsers = ParserPool()
    private let now: @Sendable () -> Date

    package init(
        normalizer: Normalizer, routes: RouteTable, queue: SQLiteQueue, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.normalizer = normalizer
        self.routes = routes
        self.queue = queue
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
        let report = try parsers.withParser { (parser) throws(Failure) in try read(body, from: source, with: parser) }
        do throws(StoreError) {
            try await queue.append(report.items.compactMap { try? $0.get() })
        } catch {
            throw .store(error)
        }
        return report
    }

    private func read(_ body: [UInt8], from source: SourceName, with parser: JSONParser) throws(Failure) -> Report {
        let receivedAt = now()
        var reader = PayloadReader(normalizer: normalizer, source: source, parser: parser)
        body.withUnsafeBytes { reader.append($0) }
        reader.finish()
        var items: [Result<RoutedEvent, Rejection>] = []
        while let result = reader.next(receivedAt: receivedAt) {
            guard items.count < Self.batchLimit else { throw .tooManyPayloads }
            items.append(result.map { route($0, with: parser) })
        }
        return Report(items: items, isBatch: reader.isArray || items.count > 1)
    }

    /// Gives an event the destinations that the routes name.
    package func route(_ event: Event, with parser: JSONParser) -> RoutedEvent {
        let decision = routes.decide(event, with: parser)
        return RoutedEvent(event: event, routes: decision.routes, destinations: decision.destinations)
    }

    /// Puts events that were read and routed elsewhere on disk.
    package func append(_ events: [RoutedEvent]) async throws(StoreError) { try await queue.append(events) }
}

extension RouteTable {
    /// Decides over an event as it will be delivered: over its bytes, read back.
    package func decide(_ event: Event, with parser: JSONParser) -> Decision {
        parser.reset()
        do throws(JSONError) {
            return decide(try parser.parse(event.body))
        } catch {
            preconditionFailure("An event of ours is no JSON: \(error.reason).")
        }
    }
}
