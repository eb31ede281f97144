import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct CachingHeadersTests {
    /// 2026-11-20 21:29:00 UTC, as in the headers below.
    private static let now = Date(timeIntervalSince1970: 1_795_210_140)
    private static let nowText = "Fri, 20 Nov 2026 21:29:00 GMT"

    private static let cases: [(headers: [String: String], seconds: TimeInterval)] = [
        ([:], 600),
        (["date": nowText], 600),
        (["cache-control": "max-age=60"], 60),
        (["cache-control": "public, Max-Age=60 , immutable"], 60),
        (["cache-control": #"max-age="60""#], 60),
        (["cache-control": "max-age=60, max-age=90"], 60),
        // A private cache ignores directives for shared caches (RFC 9111, 5.2.2.10).
        (["cache-control": "s-maxage=5, max-age=60"], 60),
        (["cache-control": "s-maxage=5"], 600),
        (["cache-control": "private"], 600),
        (["cache-control": "no-cache, max-age=60"], 0),
        (["cache-control": #"no-cache="set-cookie, x", max-age=60"#], 0),
        (["cache-control": #"x="no-store, \" max-age=5", max-age=60"#], 60),
        (["cache-control": "NO-STORE"], 0),
        (["cache-control": "max-age=0"], 0),
        (["cache-control": "max-age"], 0),
        (["cache-control": "max-age=-5"], 0),
        (["cache-control": "max-age=1.5"], 0),
        (["cache-control": "max-age=soon"], 0),
        (["cache-control": "max-age=99999999999999999999999"], 365 * 24 * 3600),
        (["cache-control": ",,=,\"", "expires": "0"], 0),
        // Expires counts from the server's own date.
        (["expires": "Fri, 20 Nov 2026 21:30:00 GMT", "date": nowText], 60),
        (["expires": "Fri, 20 Nov 2026 21:30:00 GMT"], 60),
        (["expires": "Friday, 20-Nov-26 21:30:00 GMT"], 60),
        (["expires": "Fri Nov 20 21:30:00 2026"], 60),
        (["expires": "Fri, 20 Nov 2026 22:30:00 GMT", "date": "Fri, 20 Nov 2026 22:29:00 GMT"], 60),
        (["expires": nowText, "date": nowText], 0),
        (["expires": "Thu, 01 Jan 1970 00:00:00 GMT"], 0),
        (["expires": "-1"], 0),
        (["expires": "Fri, 20 Nov 2099 21:30:00 GMT"], 365 * 24 * 3600),
        (["cache-control": "max-age=60", "expires": "Fri, 20 Nov 2026 22:29:00 GMT"], 60),
        // The age in other caches and the time since the server's date shorten the lifetime.
        (["cache-control": "max-age=60", "age": "20"], 40),
        (["cache-control": "max-age=60", "age": "100"], 0),
        (["cache-control": "max-age=60", "age": "old"], 60),
        (["cache-control": "max-age=60", "date": "Fri, 20 Nov 2026 21:28:30 GMT"], 30),
        (["cache-control": "max-age=60", "date": "Fri, 20 Nov 2026 21:28:30 GMT", "age": "50"], 10),
        (["cache-control": "max-age=60", "date": "Fri, 20 Nov 2026 22:00:00 GMT"], 60),
        (["last-modified": "Fri, 20 Nov 2026 11:29:00 GMT", "cache-control": "max-age=5"], 5),
    ]

    @Test(arguments: cases) func readsLifetimes(headers: [String: String], seconds: TimeInterval) {
        let caching = CachingHeaders(headers, receivedAt: Self.now)
        #expect(caching.until == Self.now.addingTimeInterval(seconds), "\(headers)")
    }

    @Test func subtractsTheDelay() {
        let caching = CachingHeaders(["cache-control": "max-age=60", "age": "5"], receivedAt: Self.now, delay: 10)
        #expect(caching.until == Self.now.addingTimeInterval(45))
    }

    @Test func promisesOnlyStatedLifetimes() {
        func promised(_ headers: [String: String]) -> Date? { CachingHeaders(headers, receivedAt: Self.now).promised }
        #expect(promised([:]) == nil)
        #expect(promised(["last-modified": "Fri, 20 Nov 2026 11:29:00 GMT"]) == nil)
        #expect(promised(["cache-control": "no-store"]) == Self.now)
        #expect(promised(["cache-control": "max-age=1"]) == Self.now.addingTimeInterval(1))
        #expect(CachingHeaders(["cache-control": "no-store"], receivedAt: Self.now).isForOnce)
        #expect(!CachingHeaders(["cache-control": "no-cache"], receivedAt: Self.now).isForOnce)
    }

    /// Random headers do not trap, and every lifetime is between 0 and a year.
    @Test func boundsEveryLifetime() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "max-age", "no-store", "no-cache", "=", ",", "\"", "\\", " ", "-1", "0", "60", "9223372036854775808", ";",
            "Fri, 20 Nov 2026 21:30:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "9999", "\u{E9}", "\t", "s-maxage", "GMT",
        ]
        for _ in 0..<20_000 {
            var headers: [String: String] = [:]
            for name in CachingHeaders.names + CachingHeaders.lists where Bool.random(using: &random) {
                let count = Int.random(in: 0...6, using: &random)
                headers[name] = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            }
            let caching = CachingHeaders(headers, receivedAt: Self.now, delay: .random(in: 0...20, using: &random))
            let seconds = caching.until.timeIntervalSince(Self.now)
            #expect((0...CachingHeaders.longest).contains(seconds), "seed \(seed): \(headers)")
            if caching.isForOnce { #expect(seconds == 0, "seed \(seed): \(headers)") }
        }
    }
}
