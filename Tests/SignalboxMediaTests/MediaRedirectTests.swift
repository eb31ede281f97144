import SignalboxGateway
import SignalboxNotification
import SignalboxServerTesting
import Testing

/// Redirects that are followed and redirects that are rejected.
@Suite(.timeLimit(.minutes(15))) struct MediaRedirectTests {
    @Test func followsThreeRedirects() async throws {
        let replies: [String: [ScriptedReply]] = [
            "/a/start": [.redirect(to: "../b/second?x=1#here", status: "301 Moved Permanently")],
            "/b/second?x=1": [.redirect(to: "//127.0.0.1:PORT/third", status: "303 See Other")],
            "/a/absolute": [.redirect(to: "/third file", status: "307 Temporary Redirect")],
            "/third%20file": [.redirect(to: "?last", status: "308 Permanent Redirect")],
            "/third%20file?last": [.file(Sample.png)],
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/a/absolute").file?.sha256 == Sample.pngDigest)
            for line in ["/a/absolute", "/third%20file", "/third%20file?last"] {
                let request = try #require(try await server.peer.next())
                #expect(request.line == "GET \(line) HTTP/1.1")
                #expect(request.headers["referer"] == nil && request.headers["cookie"] == nil)
            }
            // The second has an invalid port.
            #expect(await server.fetch("/a/start").word == "redirects!")
        }
    }

    @Test(arguments: [
        (1, "stored"), (2, "stored"), (3, "stored"), (4, "redirects!"), (5, "redirects!"),
    ])
    func rejectsMoreThanThreeRedirects(count: Int, word: String) async throws {
        var replies: [String: [ScriptedReply]] = ["/0": [.file(Sample.png)]]
        for number in 1...5 { replies["/\(number)"] = [.redirect(to: "/\(number - 1)")] }
        try await MediaServer.run(replies) { #expect(await $0.fetch("/\(count)").word == word) }
    }

    @Test func endsRedirectLoops() async throws {
        let replies: [String: [ScriptedReply]] = [
            "/self": [.redirect(to: "/self")], "/a": [.redirect(to: "/b")], "/b": [.redirect(to: "/a")],
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/self").word == "redirects!")
            for _ in 0..<4 {
                let request = try #require(try await server.peer.next())
                #expect(request.line == "GET /self HTTP/1.1")
            }
            #expect(await server.fetch("/a").word == "redirects!")
        }
    }

    @Test(arguments: [
        "127.0.0.2", "127.1.1.1", "169.254.169.254", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "10.0.0.1",
        "[::1]", "[fd00:ec2::254]", "0.0.0.0", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "127.2",
        "１６９.２５４.１６９.２５４", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]",
    ])
    func deniesRedirectsToSpecialAddresses(host: String) async throws {
        let replies: [String: [ScriptedReply]] = [
            "/http": [.redirect(to: "http://\(host)/latest/meta-data/")],
            "/https": [.redirect(to: "https://\(host)/latest/meta-data/")],
            "/twice": [.redirect(to: "/http")],
        ]
        try await MediaServer.run(replies) { server in
            for path in ["/http", "/https", "/twice"] { #expect(await server.fetch(path).word == "denied!") }
        }
    }

    /// The policy applies to the first address, too.
    @Test func deniesAddressesOfThePrivateNetwork() async throws {
        try await MediaServer.run([:]) { server in
            for host in ["127.0.0.2", "169.254.169.254", "[::ffff:169.254.169.254]", "[::1]"] {
                #expect(await server.fetcher.fetch("http://\(host):\(server.peer.port)/").word == "denied!")
                #expect(await server.fetcher.fetch("https://\(host):\(server.peer.port)/").word == "denied!")
            }
        }
    }

    /// Even if http is allowed: an attacker on the path could replace the picture.
    @Test func rejectsRedirectsToHttpEvenIfAllowed() async throws {
        let replies: [String: [ScriptedReply]] = ["/http": [.redirect(to: "http://127.0.0.1/a.png")]]
        try await MediaServer.run(replies, certificate: "good.pem", settings: { $0.rules.allowsHTTP = true }) {
            server in
            #expect(await server.fetch("/http").word == "scheme!")
        }
    }

    @Test func rejectsRedirectsFromHttpsToHttp() async throws {
        let replies: [String: [ScriptedReply]] = [
            "/http": [.redirect(to: "http://127.0.0.1/a.png")], "/relative": [.redirect(to: "/file")],
            "/file": [.file(Sample.png)], "/ftp": [.redirect(to: "ftp://127.0.0.1/a.png")],
        ]
        try await MediaServer.run(replies, certificate: "good.pem") { server in
            #expect(await server.fetch("/http").word == "scheme!")
            #expect(await server.fetch("/ftp").word == "scheme!")
            #expect(await server.fetch("/relative").word == "stored")
            #expect(await server.fetcher.fetch("http://127.0.0.1:\(server.peer.port)/file").word == "scheme!")
        }
    }

    @Test(arguments: [
        ("file:///etc/passwd", "scheme!"), ("gopher://127.0.0.1/", "scheme!"),
        ("data:image/png;base64,AA==", "redirects!"),
        ("http://user@127.0.0.1/", "url!"), ("http://:secret@127.0.0.1/", "url!"), ("http://", "redirects!"),
        ("http://127.0.0.1:99999/", "redirects!"), ("http://[::1/", "redirects!"), ("", "redirects!"),
        ("http://127.0.0.1\\@example.com/", "url!"), ("https:///127.0.0.2/", "denied!"),
    ])
    func rejectsInvalidLocations(place: String, word: String) async throws {
        try await MediaServer.run(["/": [.redirect(to: place)]]) { server in
            let outcome = await server.fetch("/")
            #expect(outcome.word == word, "\(outcome)")
        }
    }

    @Test func rejectsMissingAndLongLocations() async throws {
        let replies: [String: [ScriptedReply]] = [
            "/none": [.file([], status: "302 Found")],
            "/long": [.redirect(to: "/" + String(repeating: "a", count: 9000))],
            "/signed": [.redirect(to: "/file?" + String(repeating: "a", count: 3000))],
            "/file?" + String(repeating: "a", count: 3000): [.file(Sample.png)],
            "/choices": [.file([], status: "300 Multiple Choices")],
            "/unasked": [.file([], status: "304 Not Modified")],
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/none").word == "redirects!")
            #expect(await server.fetch("/long").word == "redirects!")
            #expect(await server.fetch("/signed").word == "stored")
            #expect(await server.fetch("/choices").word == "status!")
            #expect(await server.fetch("/unasked").word == "status!")
        }
    }

    @Test(arguments: [
        ("", "url!"), ("a.png", "url!"), ("//host/a.png", "url!"), ("data:image/png;base64,AAAA", "url!"),
        ("https://user:secret@host/a.png", "url!"), ("https:////a.png", "url!"), ("https://host/\na.png", "url!"),
        ("https://host\0.example/a.png", "url!"), ("file:///etc/passwd", "scheme!"), ("ftp://host/a.png", "scheme!"),
        ("content://media/1", "scheme!"), ("https://host/" + String(repeating: "a", count: 9000), "url!"),
    ])
    func rejectsOtherURLs(url: String, word: String) async throws {
        try await MediaServer.run([:]) { #expect(await $0.fetcher.fetch(url).word == word) }
    }
}
