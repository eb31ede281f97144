import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import SignalboxServer

@Suite struct ConsoleFileTests {
    private static func request(_ path: String, ifNoneMatch tag: String? = nil) -> Request {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:8080", path: path)
        head.headerFields[.ifNoneMatch] = tag
        return Request(head: head, body: RequestBody(buffer: .init()))
    }

    private static func text(_ file: ConsoleFile) -> String { String(decoding: file.body, as: UTF8.self) }

    @Test func filesAreSmall() {
        for (name, file) in ConsoleFile.all { #expect(file.body.count <= 40_000, "\(name)") }
        #expect(ConsoleFile.all.values.map(\.body.count).reduce(0, +) <= 160_000)
    }

    /// A file that is loaded and not served would leave the page empty.
    @Test func everyFileThatThePageLoadsIsServed() throws {
        let (links, imports) = (/console\/([a-z.]+)/, /from "\.\/([a-z.]+)"|import\("\.\/([a-z.]+)"\)/)
        for (name, file) in ConsoleFile.all {
            for match in Self.text(file).matches(of: links) {
                #expect(ConsoleFile.all[String(match.1)] != nil, "\(name)")
            }
            for match in Self.text(file).matches(of: imports) {
                let target = try #require(match.1 ?? match.2)
                #expect(ConsoleFile.all[String(target)] != nil, "\(name) \(target)")
            }
        }
    }

    @Test func filesNameNoOtherSite() {
        let permitted = ["http://www.w3.org/2000/svg"]
        for (name, file) in ConsoleFile.all {
            for match in Self.text(file).matches(of: /https?:\/\/[a-z0-9.]+[^"'` ]*/) {
                #expect(permitted.contains(String(match.0)), "\(name)")
            }
        }
    }

    /// The policy would refuse these at run time only.
    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", " style=\"",
    ])
    func noTextBecomesMarkupOrCode(word: String) {
        for (name, file) in ConsoleFile.all { #expect(!Self.text(file).contains(word), "\(name)") }
    }

    @Test func answersWithThePolicyAndATag() throws {
        let file = try #require(ConsoleFile.all["app.js"])
        let response = file.response(to: Self.request("/console/app.js"))
        let headers = response.headers
        #expect(response.status == .ok)
        #expect(headers[.contentType] == "text/javascript; charset=utf-8")
        #expect(headers[.cacheControl] == "no-cache" && headers[.xContentTypeOptions] == "nosniff")
        #expect(headers[text: "referrer-policy"] == "no-referrer")
        #expect(headers[text: "cross-origin-opener-policy"] == "same-origin")
        #expect(headers[text: "cross-origin-resource-policy"] == "same-origin")
        #expect(
            headers[.contentSecurityPolicy] == "default-src 'none'; script-src 'self'; style-src 'self'; "
                + "img-src 'self' blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
                + "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
        let tag = try #require(headers[.eTag])
        #expect(tag.hasPrefix("\"") && tag.count == 34)
        let again = Self.request("/console/app.js", ifNoneMatch: tag)
        #expect(file.response(to: again).status == .notModified)
    }

    @Test(arguments: ["", "x.js", "../index.html", "INDEX.HTML", "app.js/"])
    func otherNamesAreUnknown(name: String) {
        #expect(ConsoleFile.all[name] == nil)
    }
}
