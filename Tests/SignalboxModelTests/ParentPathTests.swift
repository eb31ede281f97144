import SignalboxNotification
import Testing

@Suite struct ParentPathTests {
    @Test(arguments: [
        ("r", ""), ("routes.json", ""), ("data/", ""), ("./r", "."), ("a/b", "a"), ("a/..", "a"), ("a//b", "a"),
        ("/d", "/"), ("/var/lib/signalbox", "/var/lib"), ("//d", "/"), ("/", "/"), ("", ""), ("é/ü", "é"),
        ("a/..", "a"),
    ])
    func namesTheFolder(path: String, folder: String) {
        #expect(path.parentPath == folder)
    }
}
