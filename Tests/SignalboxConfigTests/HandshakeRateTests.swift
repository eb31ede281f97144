import Testing

@testable import SignalboxConfig

@Suite struct HandshakeRateTests {
    @Test(arguments: [60.0, 3600.0])
    func asksForTheWrittenRate(secondsOfUnit: Double) {
        let perMinute = Int(secondsOfUnit / 60)
        let wrong = (1...100_000).filter { rate in
            Destination.Handshake.perMinute(Double(rate * perMinute) / secondsOfUnit) != rate
        }
        #expect(wrong.isEmpty)
    }

    @Test func roundsFractionsUp() {
        #expect(Destination.Handshake.perMinute(61.0 / 3600) == 2)
        #expect(Destination.Handshake.perMinute(1.0 / 3600) == 1)
        #expect(Destination.Handshake.perMinute(2) == 120)
    }
}
