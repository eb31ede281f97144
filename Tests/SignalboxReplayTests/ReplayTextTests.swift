import Foundation
import SignalboxGateway
import SignalboxNotification
import Testing

@Suite struct ReplayTextTests {
    @Test func ratesAreNumbersAndUnits() {
        #expect(ReplayText.rate("200/s") == 200)
        #expect(ReplayText.rate("90/m") == 1.5)
        #expect(ReplayText.rate("0.5/s") == 0.5)
        for text in ["", "200", "/s", "x/s", "0/s", "-1/s", "nan/s", "inf/s", "1/d", "1/s/s", "1e9/s"] {
            #expect(ReplayText.rate(text) == nil, "\(text)")
        }
    }

    @Test func speedsAreFactors() {
        #expect(ReplayText.speed("10") == 10)
        #expect(ReplayText.speed("2.5x") == 2.5)
        for text in ["", "x", "0", "-1", "nan", "inf", "fast"] { #expect(ReplayText.speed(text) == nil, "\(text)") }
    }

    @Test func momentsAreTimesOrDurationsAgo() throws {
        let now = Date(timeIntervalSince1970: 1_000_000)
        #expect(ReplayText.moment("24h", now: now) == Timestamp(milliseconds: (1_000_000 - 86_400) * 1000))
        #expect(ReplayText.moment("1970-01-01T00:00:01+00:00", now: now) == Timestamp(milliseconds: 1000))
        for text in ["", "yesterday", "2026-11-20", "24", "-1h"] {
            #expect(ReplayText.moment(text, now: now) == nil, "\(text)")
        }
    }

    @Test func addressesOfGatewaysGetTheirEndpoint() {
        #expect(GatewayAddress("http://127.0.0.1:8080", source: nil)?.url == "http://127.0.0.1:8080/v1/notifications")
        #expect(
            GatewayAddress("https://a.example/push/", source: SourceName("shop"))?.url
                == "https://a.example/push/v1/sources/shop/notifications")
        for text in [
            "", "a.example", "ftp://a.example", "http://", "http://u:p@a.example", "http://a.example/?x",
            "http://a.example/#x",
        ] {
            #expect(GatewayAddress(text, source: nil) == nil, "\(text)")
        }
    }
}
