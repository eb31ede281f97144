import Foundation
import NIOPosix

/// A quantity that takes memory, and whether it has fallen far since its highest value. Prevents repeated trims: each
/// flood reports its end once.
struct PeakGauge {
    /// In the unit of the user of the gauge: connections or bytes.
    private(set) var value = 0
    /// The highest value since the start, or since the last reported fall.
    private var highest = 0

    /// `difference`: negative to reduce the value.
    mutating func change(by difference: Int) {
        value += difference
        highest = max(highest, value)
    }

    /// True once after the value was at least `threshold` and has fallen to less than half of its highest.
    mutating func hasFallen(from threshold: Int) -> Bool {
        guard highest >= threshold, value < highest / 2 else { return false }
        highest = value
        return true
    }
}

/// Returns freed memory to the system after a flood of connections or bodies. glibc keeps it otherwise.
enum FreedMemory {
    /// The time between two checks, and so the shortest time between two trims.
    private static let period: Duration = .seconds(60)

    /// Checks once a minute, until it is cancelled. Throws when its task is cancelled, and never returns otherwise.
    static func release(when hasFallen: () -> Bool) async throws {
        while true {
            try await ContinuousClock().sleep(for: period)
            // On a thread of its own, because other threads wait while their arena is trimmed.
            if hasFallen() { _ = try await NIOThreadPool.singleton.runIfActive { release() } }
        }
    }

    /// Does nothing and returns false if the C library is not glibc.
    static func release() -> Bool {
        typealias Trim = @convention(c) (Int) -> CInt
        guard let symbol = dlsym(nil, "malloc_trim") else { return false }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
        return true
    }
}
