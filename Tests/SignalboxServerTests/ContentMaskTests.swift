import Foundation
import Testing

@testable import SignalboxServer

@Suite struct ContentMaskTests {
    private static func event(_ data: String) throws -> String {
        let text = #"{"specversion":"1.0","id":"e1","subject":"mce/alert","data":\#(data)}"#
        return String(decoding: try #require(ContentMask.event(Array(text.utf8))), as: UTF8.self)
    }

    @Test func keepsTheStructureAndHidesTexts() throws {
        let masked = try Self.event(
            #"{"vendor":"mce","kind":"alert","content":{"title":"Secret","badge":3},"campaign":{"id":"c1","name":"Spring"}}"#
        )
        #expect(
            masked
                == #"{"specversion":"1.0","id":"e1","subject":"mce/alert","data":{"vendor":"mce","kind":"alert","content":{"title":"[hidden]","badge":3},"campaign":{"id":"c1","name":"[hidden]"}}}"#
        )
    }

    @Test(arguments: [
        ("https://shop.example/a/b?c=d#e", "https://shop.example/[hidden]"),
        ("https://user:pass@shop.example:8443/", "https://shop.example:8443/[hidden]"),
        ("myapp://secret-token/path", "[hidden]"), ("HTTPS://shop.example/a", "HTTPS://shop.example/[hidden]"),
        ("tel:+48123", "[hidden]"),
        ("javascript:alert(1)", "[hidden]"),
        ("https://[::1]:8080/a", "https://[::1]:8080/[hidden]"), ("https://[::1]", "https://[::1]/[hidden]"),
        ("https://shop.example:secret/", "[hidden]"),
        ("https://shop.example/\u{301}secret", "https://shop.example/[hidden]"),
        ("https://shop.example Your code is 4711", "[hidden]"), ("https://shop.example\u{3002}4711", "[hidden]"),
        ("not a://link", "[hidden]"), ("://", "[hidden]"), ("https://", "[hidden]"), ("", ""),
    ])
    func linksKeepTheirHost(link: String, shown: String) throws {
        let masked = try Self.event(#"{"action":{"type":"openUrl","value":"\#(link)"}}"#)
        #expect(masked.hasSuffix(#""data":{"action":{"type":"openUrl","value":"\#(shown)"}}}"#), "\(masked)")
    }

    /// The gateway makes them of a button's type, value and title if the vendor sends none.
    @Test(arguments: [
        ("url:https://cars.example.com/boston/map", "url:https://cars.example.com/[hidden]"),
        ("url:https://cars.example.com/boston/map:Map#2", "url:https://cars.example.com/[hidden]"),
        ("url:https://cars.example.com Secret title", "url:[hidden]"),
        ("url:https://cars.example.com:Secret title", "url:[hidden]"), ("dial:+16175550100", "dial:[hidden]"),
        ("dial:\u{301}+16175550100", "dial:[hidden]"), ("dismiss:No thanks", "dismiss:[hidden]"),
        ("dismiss", "dismiss"), ("ACCEPT", "ACCEPT"), ("openApp:", "openApp:"),
    ])
    func theIdentifierOfAButtonKeepsItsTypeOnly(identifier: String, shown: String) throws {
        func category(_ identifier: String) -> String {
            #"{"identifier":"car:1","actions":[{"identifier":"\#(identifier)","type":"dial"}]}"#
        }
        let masked = try Self.event(#"{"category":\#(category(identifier))}"#)
        #expect(masked.hasSuffix(#""data":{"category":\#(category(shown))}}"#), "\(masked)")
        let definition = try #require(ContentMask.object(Array(category(identifier).utf8)))
        #expect(String(decoding: definition, as: UTF8.self) == category(shown))
    }

    @Test func hidesEveryValueOfTheSender() throws {
        let masked = try Self.event(#"{"custom":{"phone":48123456,"id":"x","list":["a",true,null]}}"#)
        #expect(
            masked.hasSuffix(
                #""data":{"custom":{"phone":"[hidden]","id":"[hidden]","list":["[hidden]","[hidden]",null]}}}"#),
            "\(masked)")
    }

    @Test func hidesTheContentOfAMessage() throws {
        let text = #"{"id":"m1","kind":"banner","content":{"type":"x","path":"y","list":[{"id":"z"}]}}"#
        let masked = try #require(ContentMask.message(Array(text.utf8)))
        let hidden = #"{"type":"[hidden]","path":"[hidden]","list":[{"id":"[hidden]"}]}"#
        #expect(String(decoding: masked, as: UTF8.self) == #"{"id":"m1","kind":"banner","content":\#(hidden)}"#)
    }

    @Test(arguments: [
        ("\"https://user:p@crm.example/hook?x=1\"", "/destinations/crm/url", "\"https://crm.example/[hidden]\""),
        ("\"file:/etc/secret\"", "/destinations/crm/secret", "\"[hidden]\""), ("15", "/routes/0/sample", "15"),
        ("true", "/routes/0/stop", "true"), ("\"Sale\"", "/routes/0/match/data/title/0", "\"[hidden]\""),
        ("48123", "/routes/0/match/data/custom/phone/0", "\"[hidden]\""), ("[]", "/routes/0/to", "[]"),
        ("[1,2", "/routes/0/to", "\"[hidden]\""),
    ])
    func hidesTextsAndPatternsOfAConfig(text: String, pointer: String, shown: String) {
        #expect(String(decoding: ContentMask.configValue(text, at: pointer), as: UTF8.self) == shown)
    }

    @Test(arguments: ["", "[]", "{", "3"])
    func omitsUnreadableTexts(text: String) {
        #expect(ContentMask.event(Array(text.utf8)) == nil)
        #expect(ContentMask.object(Array(text.utf8)) == nil)
    }
}
