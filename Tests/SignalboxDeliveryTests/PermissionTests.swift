import SignalboxConfig
import SignalboxEgress
import Testing

@testable import SignalboxGateway

/// The meaning of replies to a validation request.
@Suite struct PermissionTests {
    private func read(
        _ status: Int = 200, origin: String? = "gateway.example.com", rate: String? = "*", asked: Int? = nil
    ) -> Permission {
        var headers: [String: String] = ["webhook-allowed-origin": origin].compactMapValues(\.self)
        headers["webhook-allowed-rate"] = rate
        return Permission(
            .success(OutboundReply(status: status, retryAfter: .seconds(7), headers: headers)),
            to: Destination.Handshake(origin: "gateway.example.com", perMinute: asked))
    }

    @Test(arguments: ["gateway.example.com", "*", " Gateway.Example.COM "])
    func isGivenToUsOrToEverybody(origin: String) {
        #expect(read(origin: origin) == .given(perMinute: nil))
        #expect(read(204, origin: origin) == .given(perMinute: nil))
    }

    @Test(
        arguments: [
            ("120", nil, 120), (" 1 ", 5, 1), ("*", 5, nil), (nil, 5, 5), (nil, nil, nil), ("9000", 5, 9000),
        ] as [(String?, Int?, Int?)])
    func readsThePermittedRate(rate: String?, asked: Int?, counts: Int?) {
        #expect(read(rate: rate, asked: asked) == .given(perMinute: counts))
    }

    @Test(
        arguments: [
            (405, "gateway.example.com", "*", "OPTIONS was answered 405"), (301, "*", "*", "OPTIONS was answered 301"),
            (200, nil, "*", "the answer to OPTIONS (200) has no WebHook-Allowed-Origin"),
            (200, " ", "*", "the answer to OPTIONS (200) has no WebHook-Allowed-Origin"),
            (200, "other.example", "*", #"WebHook-Allowed-Origin is "other.example", not gateway.example.com"#),
            (200, "*.example.com", "*", #"WebHook-Allowed-Origin is "*.example.com", not gateway.example.com"#),
            (200, "\u{1B}[2Jä", "*", #"WebHook-Allowed-Origin is "?[2J?", not gateway.example.com"#),
            (200, "*", "0", #"WebHook-Allowed-Rate is "0", neither * nor a whole number above 0"#),
            (200, "*", "-1", #"WebHook-Allowed-Rate is "-1", neither * nor a whole number above 0"#),
            (200, "*", "", #"WebHook-Allowed-Rate is "", neither * nor a whole number above 0"#),
            (
                200, "*", "99999999999999999999",
                #"WebHook-Allowed-Rate is "99999999999999999999", neither * nor a whole number above 0"#
            ),
        ] as [(Int, String?, String?, String)])
    func everythingElseGivesNone(status: Int, origin: String?, rate: String?, reason: String) {
        #expect(
            read(status, origin: origin, rate: rate)
                == .withheld(reason: "no permission to send: \(reason)", retryAfter: .seconds(7)))
    }

    @Test func failedRequestWithholdsPermissionExceptAtAStop() {
        let handshake = Destination.Handshake(origin: "a")
        #expect(
            Permission(.failure(.refused("no")), to: handshake)
                == .withheld(reason: "no permission to send: not connected: no", retryAfter: nil))
        #expect(Permission(.failure(.stopped), to: handshake) == .unknown)
    }

    @Test func shortensReceivedText() {
        guard case .withheld(let reason, _) = read(origin: String(repeating: "a", count: 5000)) else {
            Issue.record("it is another's")
            return
        }
        #expect(reason.utf8.count < 200)
    }
}
