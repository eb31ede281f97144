import SignalboxEgress
import SignalboxTesting
import Testing

@Suite struct OutboundURLTests {
    @Test(arguments: [
        ("https://cdn.example/a.png", "https://cdn.example/a.png"), ("HTTPS://cdn.example", "https://cdn.example/"),
        ("https://cdn.example/a b.png#top", "https://cdn.example/a%20b.png"),
        ("https://cdn.example/ä.png?q=ö", "https://cdn.example/%c3%a4.png?q=%c3%b6"),
        ("https://cdn.example/a%20b%2Fc", "https://cdn.example/a%20b%2Fc"),
        ("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443/"),
    ])
    func readsURLsAsLibcurlDoes(text: String, whole: String) throws {
        #expect(try #require(OutboundURL(text)).text == whole)
    }

    @Test func splitsURLsIntoParts() throws {
        let url = try #require(OutboundURL("HTTP://CDN.example:8080/a/b.png?x=1#y"))
        #expect(url.scheme == "http" && url.host == "CDN.example" && url.path == "/a/b.png" && !url.hasUserinfo)
        for text in ["https://user@host/", "https://user:pass@host/", "https://:pass@host/", "https://@host/"] {
            #expect(try #require(OutboundURL(text)).hasUserinfo, "\(text)")
        }
        // The part before the at sign is not the host.
        let tricky = try #require(OutboundURL("https://good.example\\@evil.example/"))
        #expect(tricky.host == "evil.example" && tricky.hasUserinfo)
    }

    @Test(arguments: [
        "", "a.png", "/a.png", "//host/a.png", "https://", "https:////a", "https://host:99999/", "https://[::1/",
        "https://ho st/", "https://host/\r\nx: y", "https://host\0/", "data:image/png,x", "https://\u{7}/",
    ])
    func rejectsOtherTexts(text: String) { #expect(OutboundURL(text) == nil) }

    /// Examples of RFC 3986, 5.4.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("/g", "http://a/g"), ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("../g", "http://a/b/g"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("http://x/y", "http://x/y"), ("g#s", "http://a/b/c/g"),
    ])
    func resolvesReferences(reference: String, whole: String) throws {
        let base = try #require(OutboundURL("http://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.text == whole)
    }

    /// So the URL that is checked is the URL that is requested.
    @Test func readingTwiceGivesTheSameURL() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "https://", "http:", "//", "/", "@", ":", "host", "127.0.0.1", "[::1]", "%40", "%00", "\\", "?", "#", " ",
            "ä", "..", ".", "８", "443", "\t", "user", "%2F",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...8, using: &random)
            let text = "https://" + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let url = OutboundURL(text) else { continue }
            let again = OutboundURL(url.text)
            #expect(again == url, "seed \(seed): \(text)")
        }
    }
}
