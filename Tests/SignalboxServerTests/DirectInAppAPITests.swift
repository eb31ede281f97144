import Testing

@testable import SignalboxServer

@Suite struct DirectInAppAPITests {
    @Test(
        arguments: [
            ("/v1/inapp/triggers", .trigger), ("/v1/inapp/offers/of_01ab/outcome", .report("of_01ab")),
            ("/v1/inapp/offers/of_01ab-2/outcome", .report("of_01ab-2")),
            // The router handles, or rejects, all others.
            ("/v1/inapp/slots", nil), ("/v1/inapp/triggers/", nil), ("/v1/inapp/triggers?x=1", nil), ("", nil),
            ("/v1/inapp/offers//outcome", nil), ("/v1/inapp/offers/outcome", nil),
            ("/v1/inapp/offers/a/b/outcome", nil), ("/v1/inapp/offers/a%2Fb/outcome", nil),
            ("/v1/inapp/offers/of_1/outcome?x=1", nil),
            ("/v1/inapp/offers/of_1/outcome/", nil), ("/v1/inapp/offers/", nil),
        ] as [(String, DirectInAppAPI.Target?)])
    func readsTheUsualSpellingOfAPath(path: String, target: DirectInAppAPI.Target?) {
        #expect(DirectInAppAPI.Target(path) == target)
    }
}
