import Testing

@testable import SignalboxServer

@Suite struct NotificationsAPITests {
    @Test(
        arguments: [
            ("/v1/notifications", .some(nil)), ("/v1/sources/app_1.x-y/notifications", "app_1.x-y"),
            // The router handles, or rejects, other spellings.
            ("/v1/interactions", nil), ("/", nil), ("", nil), ("/v1/notifications/", nil), ("//v1/notifications", nil),
            ("/v1/notifications?x=1", nil), ("/v1/sources//notifications", nil),
            ("/v1/sources/a%2Fb/notifications", nil),
            ("/v1/sources/a/b/notifications", nil), ("/v1/sources/a/notifications/", nil), ("/v1/sources/a", nil),
        ] as [(String, String??)])
    func readsTheUsualSpellingOfAPath(path: String, source: String??) {
        #expect(NotificationsAPI.Path(path).map(\.source) == source)
    }
}
