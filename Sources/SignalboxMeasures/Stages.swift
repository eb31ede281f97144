import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore

/// The stages of the product, for benchmarks. Benchmarks are a separate package, so these declarations are public.
/// Each stage includes those before it, so the difference of two results is the cost of a stage.
public enum Stages {
    /// Parses every payload with simdjson and nothing else. Returns the bytes read. One parser serves all payloads,
    /// as in the gateway. Payloads that are not JSON count zero bytes.
    public static func parse(_ payloads: [[UInt8]]) -> Int {
        let parser = Normalizer.makeParser()
        var bytes = 0
        for payload in payloads {
            parser.reset()
            if (try? parser.parse(payload)) != nil { bytes += payload.count }
        }
        return bytes
    }

    /// Parses every payload, finds its platform and vendor, and reads it. Returns how many have a vendor. Uses the
    /// default chain, with the built-in catalogue.
    public static func read(_ payloads: [[UInt8]]) -> Int {
        let parser = Normalizer.makeParser()
        let chain = VendorChain()
        var recognised = 0
        for payload in payloads {
            parser.reset()
            guard let root = try? parser.parse(payload),
                let platformPayload = try? Platforms.recognise(root, size: payload.count, parser: parser)
            else { continue }
            if chain.read(platformPayload).vendor != .unknown { recognised += 1 }
        }
        return recognised
    }

    /// The time of the chain alone, without and with the catalogue: detecting and reading payloads that are already
    /// parsed. Both are measured payload by payload in turn, so that the load of the machine affects both alike. The
    /// means of eight repetitions, summed over all payloads.
    public static func chain(_ payloads: [[UInt8]]) -> (without: Duration, with: Duration) {
        let without = Vendors.detectors.map(\.name)
        guard let small = try? VendorChain(named: without) else { preconditionFailure("The registry knows its names.") }
        let large = VendorChain()
        let parser = Normalizer.makeParser()
        var times = (without: Duration.zero, with: Duration.zero)
        for (number, payload) in payloads.enumerated() {
            parser.reset()
            guard let root = try? parser.parse(payload),
                let platformPayload = try? Platforms.recognise(root, size: payload.count, parser: parser)
            else { continue }
            // The second measurement finds the payload in the processor's cache.
            if number.isMultiple(of: 2) {
                times.without += time(small, platformPayload)
                times.with += time(large, platformPayload)
            } else {
                times.with += time(large, platformPayload)
                times.without += time(small, platformPayload)
            }
        }
        return times
    }

    /// The mean of eight repetitions, the first of which warms the caches.
    private static func time(_ chain: VendorChain, _ payload: borrowing PlatformPayload) -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<8 { _ = chain.read(payload) }
        return (clock.now - start) / 8
    }

    /// Turns every payload into the bytes of its event. Returns the bytes written. Rejected payloads count zero
    /// bytes. Neither routes nor a queue take part.
    public static func events(_ payloads: [[UInt8]]) -> Int {
        let parser = Normalizer.makeParser()
        let normalizer = makeNormalizer()
        let reception = Reception(from: .default, at: Date())
        var bytes = 0
        for payload in payloads {
            payload.withUnsafeBufferPointer { payload in
                bytes +=
                    (try? normalizer.event(payload, as: reception, at: PayloadPosition(), with: parser))?.body.count
                    ?? 0
            }
        }
        return bytes
    }

    /// The time of each payload from its text to the bytes of its event: the fastest of `rounds` rounds, each of eight
    /// repetitions. Measures the payloads in turn, so that the load of the machine affects all alike.
    public static func times(_ payloads: [[UInt8]], rounds: Int) -> [Duration] {
        let parser = Normalizer.makeParser()
        let normalizer = makeNormalizer()
        let reception = Reception(from: .default, at: Date())
        let clock = ContinuousClock()
        var times = payloads.map { _ in Duration.seconds(1) }
        for _ in 0..<rounds {
            for (position, payload) in payloads.enumerated() {
                let start = clock.now
                for _ in 0..<8 {
                    _ = payload.withUnsafeBufferPointer {
                        try? normalizer.event($0, as: reception, at: PayloadPosition(), with: parser)
                    }
                }
                times[position] = min(times[position], (clock.now - start) / 8)
            }
        }
        return times
    }

    /// The vendors that code recognises; data describes all others.
    public static let vendorsWithCode = Vendors.detectors.map(\.name)

    /// Its key is random, which does not affect the time.
    private static func makeNormalizer() -> Normalizer {
        Normalizer(chain: VendorChain(), gateway: "bench", tokens: TokenHash(key: randomBytes(32)))
    }
}

/// A queue in a directory, and events to put into it. The directory keeps the queue after the measurement; the caller
/// removes it.
public struct QueueMeasure: Sendable {
    /// Opened without the lock of a data directory.
    private let queue: SQLiteQueue
    /// Copied with a new id for each append.
    private let event: RoutedEvent

    /// `payload`: the payload of every event. Throws for a payload that is rejected, and for a directory that cannot
    /// be used.
    public init(directory: String, payload: [UInt8]) throws {
        queue = try SQLiteQueue(in: directory)
        let normalizer = Normalizer(chain: VendorChain(), gateway: "bench", tokens: TokenHash(key: randomBytes(32)))
        let parser = Normalizer.makeParser()
        let made = try payload.withUnsafeBufferPointer { bytes in
            try normalizer.event(bytes, as: Reception(from: .default, at: Date()), at: PayloadPosition(), with: parser)
        }
        event = RoutedEvent(event: made, routes: ["bench"], deliveries: [DeliveryOrder(to: DestinationName("crm"))])
    }

    /// Appends events one by one from many tasks at once, so that they share commits; each is durable at the end.
    /// `writers`: tasks that append at the same time; `count` is divided among them and rounded down.
    public func append(_ count: Int, writers: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<writers {
                group.addTask {
                    let ids = EventIDSource()
                    for _ in 0..<count / writers { try await queue.append([copy(ids.next(at: Date()))]) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Shares the body with the first event.
    private func copy(_ id: EventID) -> RoutedEvent {
        RoutedEvent(
            event: Event(
                id: id, source: event.event.source, acceptedAt: event.event.acceptedAt, vendor: event.event.vendor,
                kind: event.event.kind, warnings: [], body: event.event.body),
            routes: event.routes, deliveries: event.deliveries)
    }
}
