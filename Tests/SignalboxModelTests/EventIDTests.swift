import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct EventIDTests {
    private static let seed: UInt64 = 20_261_120

    @Test func isAUUIDOfVersionSeven() throws {
        var random = SeededGenerator(seed: Self.seed)
        for bits in [(UInt64.min, UInt64.min), (.max, .max), (random.next(), random.next())] {
            let id = EventID(at: Date(timeIntervalSince1970: 1_732_060_800.123), random: bits).description
            let uuid = try #require(UUID(uuidString: id))
            #expect(uuid.uuidString.lowercased() == id)
            #expect(uuid.uuid.6 >> 4 == 7)
            #expect(uuid.uuid.8 >> 6 == 0b10)
        }
    }

    @Test func beginsWithTheMillisecondsOfItsTime() {
        // The example of RFC 9562, appendix A.6.
        let id = EventID(
            at: Date(timeIntervalSince1970: 1_645_557_742), random: (0xCC3, 0x18C4_DC0C_0C07_398F))
        #expect(id.description == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    }

    @Test func carriesAllSeventyFourRandomBits() {
        let time = Date(timeIntervalSince1970: 0)
        #expect(EventID(at: time, random: (.max, .max)).description == "00000000-0000-7fff-bfff-ffffffffffff")
        #expect(EventID(at: time, random: (0, 0)).description == "00000000-0000-7000-8000-000000000000")
        var seen: Set<EventID> = []
        for bit in 0..<12 { seen.insert(EventID(at: time, random: (1 << bit, 0))) }
        for bit in 0..<62 { seen.insert(EventID(at: time, random: (0, 1 << bit))) }
        #expect(seen.count == 74)
    }

    @Test func sortsByTime() {
        var random = SeededGenerator(seed: Self.seed)
        let ids = (0..<500).map { step in
            let time = Date(timeIntervalSince1970: 1_700_000_000 + Double(step * step) / 1000)
            return EventID(at: time, random: (random.next(), random.next())).description
        }
        #expect(ids == [ids[0]] + ids.dropFirst().sorted())
    }

    @Test(
        arguments: [
            (-5, "00000000-0000"), (1e18, "ffffffff-ffff"), (.infinity, "ffffffff-ffff"), (.nan, "00000000-0000"),
        ] as [(Double, String)])
    func timesThatDoNotFitAreClamped(_ seconds: Double, _ expected: String) {
        let id = EventID(at: Date(timeIntervalSince1970: seconds), random: (0, 0)).description
        #expect(id.hasPrefix(expected))
    }
}
