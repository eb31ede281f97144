import Foundation
import Logging
import ServiceLifecycle
import SignalboxServer
import Synchronization

/// A webhook endpoint on loopback that notes how long each event took from its acceptance to its arrival.
public final class ReceiverMeasure: Sendable {
    // A class because connections and the benchmark share it.
    private struct State {
        var delays: [Double] = []
        var wanted = Int.max
        var done: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    public init() {}

    /// Milliseconds from the event's `time` to its arrival, in the order of arrival.
    public var delays: [Double] { state.withLock { $0.delays } }

    /// Serves for as long as `body` runs, which gets the address to send to.
    public func run<R: Sendable>(_ body: @Sendable @escaping (_ url: String) async throws -> R) async throws -> R {
        let (addresses, listening) = AsyncStream.makeStream(of: String.self)
        var logger = Logger(label: "receiver")
        logger.logLevel = .critical
        let receiver = WebhookReceiver(
            address: ListenAddress(host: "127.0.0.1", port: 0), logger: logger,
            onListening: { listening.yield("http://\($0)/") },
            receive: { [self] message in
                note(message.body)
                return 204
            })
        let group = ServiceGroup(services: [receiver], logger: logger)
        async let serving: Void = group.run()
        var iterator = addresses.makeAsyncIterator()
        guard let url = await iterator.next() else { preconditionFailure("The receiver ended before it began.") }
        let result = try await body(url)
        await group.triggerGracefulShutdown()
        try await serving
        return result
    }

    /// Returns once this many events have arrived in all.
    public func wait(for count: Int) async {
        await withCheckedContinuation { done in
            let isThere = state.withLock { state in
                state.wanted = count
                if state.delays.count < count { state.done = done }
                return state.delays.count >= count
            }
            if isThere { done.resume() }
        }
    }

    private func note(_ body: [UInt8]) {
        let delay = Date().timeIntervalSince1970 - Self.acceptedAt(body)
        let done = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.delays.append(delay * 1000)
            guard state.delays.count >= state.wanted else { return nil }
            defer { state.done = nil }
            return state.done
        }
        done?.resume()
    }

    /// The time of an event that this gateway wrote: `"time":"2026-11-20T21:29:00.123Z"`, read without a parser since
    /// the receiver shares the cores with what it measures.
    private static func acceptedAt(_ body: [UInt8]) -> Double {
        let mark = Array(#""time":""#.utf8)
        var position = 0
        while position + mark.count + 23 < body.count {
            if body[position] == mark[0], body[position..<position + mark.count].elementsEqual(mark) {
                func number(_ from: Int, _ count: Int) -> Int {
                    body[position + mark.count + from..<position + mark.count + from + count]
                        .reduce(0) { $0 * 10 + Int($1) - 48 }
                }
                var time = tm()
                time.tm_year = Int32(number(0, 4) - 1900)
                time.tm_mon = Int32(number(5, 2) - 1)
                time.tm_mday = Int32(number(8, 2))
                time.tm_hour = Int32(number(11, 2))
                time.tm_min = Int32(number(14, 2))
                time.tm_sec = Int32(number(17, 2))
                return Double(timegm(&time)) + Double(number(20, 3)) / 1000
            }
            position += 1
        }
        return Date().timeIntervalSince1970
    }
}
