package import Foundation
import SignalboxEgress
package import SignalboxNotification
import Synchronization

/// Makes event ids. Callable from any thread.
///
/// A class because callers share the random bytes that it fetches in advance.
package final class EventIDSource: Sendable {
    /// Random bytes that were fetched and how many of them are used. Bytes are never used twice.
    private struct Stock {
        var bytes: [UInt8] = []
        var used = 0
    }

    private let stock = Mutex(Stock())
    /// Bytes per fetch: enough for 256 ids.
    private static let fetched = 4096

    /// Fetches no bytes before the first id.
    package init() {}

    /// A UUID version 7 (RFC 9562) with this time and 74 random bits. Ids with equal times have no order. Stops the
    /// process if the generator fails.
    package func next(at time: Date) -> EventID {
        let random = stock.withLock { stock in
            if stock.used + 16 > stock.bytes.count { stock = Stock(bytes: randomBytes(Self.fetched)) }
            defer { stock.used += 16 }
            return stock.bytes.withUnsafeBytes { bytes in
                (
                    bytes.loadUnaligned(fromByteOffset: stock.used, as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: stock.used + 8, as: UInt64.self)
                )
            }
        }
        return EventID(at: time, random: random)
    }
}
