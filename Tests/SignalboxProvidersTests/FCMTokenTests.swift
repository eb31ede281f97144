import Foundation
import SignalboxEgress
import SignalboxTesting
import Testing

@testable import SignalboxServer

@Suite struct FCMTokenTests {
    private static let grantType = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
    private static let path = "/v1/projects/demo/messages:send"

    private static func request(_ assertion: String) -> String { "grant_type=\(grantType)&assertion=\(assertion)" }

    @Test(arguments: [("", false), (#","crit":["x"],"x":1"#, true)])
    func requiredExtensionsAreRejected(_ more: String, _ isRejected: Bool) {
        let claims = #"{"iss":"sender@demo.iam.gserviceaccount.com","iat":1,"exp":2}"#
        let parts = [#"{"alg":"RS256","kid":"key-1"\#(more)}"#, claims].map { text in
            Data(text.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-")
                .replacing("/", with: "_")
        }
        let assertion = try? ServiceAssertion(parts.joined(separator: ".") + ".AA")
        #expect((assertion == nil) == isRejected)
    }

    @Test(arguments: try Assertions().assertions)
    func assertionsAreVerified(_ assertion: Assertions.Case) async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let reply = try await bench.post("/token", Self.request(assertion.text))
            guard let error = assertion.error else {
                #expect(reply.status == 200)
                #expect(reply.string("/token_type") == "Bearer")
                #expect(reply.text.contains("\"expires_in\":3599"))
                #expect(reply.headers.contains { $0.name == "cache-control" && $0.value == "no-store" })
                let token = try #require(reply.string("/access_token"))
                let sent = try await bench.post(
                    Self.path, #"{"message":{"topic":"news"}}"#, ("authorization", "Bearer \(token)"))
                #expect(sent.status == 200)
                return
            }
            #expect(reply.status == 400)
            #expect(reply.string("/error") == "invalid_grant")
            #expect(reply.string("/error_description") == error)
        }
    }

    /// As Google's libraries for Node and Ruby sign them.
    @Test(arguments: ["no key id", "no key id, foreign key"])
    func anyKeyOfTheAccountSignsAnAssertionWithoutAKeyID(_ name: String) async throws {
        let second = """
            {"email": "sender@demo.iam.gserviceaccount.com", "keyId": "key-0", "publicKey": "env:SECONDPEM"},
            """
        let config = GoogleBench.sources.replacing("[\n", with: "[" + second + "\n")
        try await GoogleBench.run(config) { bench in
            let assertions = try Assertions()
            #expect(try await bench.post("/token", Self.request(assertions[name])).status == 200)
            #expect(try await bench.post("/token", Self.request(assertions["foreign key"])).status == 400)
        }
    }

    @Test(arguments: [
        ("", "invalid_request"), ("grant_type=refresh_token", "unsupported_grant_type"),
        ("grant_type=\(grantType)", "invalid_request"),
    ])
    func otherGrantsAreRejected(body: String, error: String) async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let reply = try await bench.post("/token", body)
            #expect(reply.status == 400)
            #expect(reply.string("/error") == error)
        }
    }

    /// Proofs are read, and signatures cannot be verified.
    @Test func openAccessGrantsATokenForAnyKey() async throws {
        try await GoogleBench.run { bench in
            let assertions = try Assertions()
            #expect(try await bench.post("/token", Self.request(assertions["foreign key"])).status == 200)
            #expect(try await bench.post("/token", Self.request(assertions["past exp"])).status == 400)
            let page = try await bench.post("/token", Self.request(assertions["good"]), authority: "evil.example")
            #expect(page.status == 403)
        }
    }

    /// As Google's libraries for Go and .NET sign it: with the URL of the account's file.
    @Test(arguments: [("/r/b1/token", 200), ("/token", 200), ("/r/b2/token", 400)])
    func theAudienceMayHaveTheLabelOfTheRun(path: String, status: Int) async throws {
        try await GoogleBench.run { bench in
            func encoded(_ json: String) -> String {
                Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                    .replacing("=", with: "")
            }
            let now = Int(bench.clock.now.timeIntervalSince1970)
            let claims = """
                {"iss":"sender@demo.iam.gserviceaccount.com","aud":"http://127.0.0.1:8080\(path)","iat":\(now),
                 "exp":\(now + 3600)}
                """
            let assertion = [encoded(#"{"alg":"RS256","kid":"key-1"}"#), encoded(claims), encoded("signature")]
            let reply = try await bench.post("/r/b1/token", Self.request(assertion.joined(separator: ".")))
            #expect(reply.status == status, "\(reply.text)")
        }
    }

    @Test func keysAreReadFromPEM() throws {
        let keys = try Assertions().keys
        #expect(RSAPublicKey(pem: keys["first"] ?? "") != nil)
        #expect(RSAPublicKey(pem: keys["certificate"] ?? "") != nil)
        for text in [
            keys["small"] ?? "", keys["ec"] ?? "", "", "-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----",
        ] {
            #expect(RSAPublicKey(pem: text) == nil)
        }
    }

    @Test func tokensAreBoundedAndTheOldestEndFirst() {
        var table = BoundedTable<Int, Int>(capacity: 4)
        for number in 0..<100 { table[number] = number }
        #expect(table.count <= 4)
        #expect(table[99] == 99)
        #expect(table[98] == 98)
        #expect(table[90] == nil)
        table[99] = nil
        #expect(table[99] == nil)
    }

    @Test func aTokenIsValidForAnHourAtEachGatewayWithTheKey() {
        let keys = DerivedKeys(Array(repeating: 3, count: 32))
        let gateways = (0..<2).map { _ in GrantedTokens(key: keys.key(for: .accessTokens)) }
        let now = Date(timeIntervalSince1970: 1_800_000_000.5)
        let account = ServiceAccountKey(email: "sender@demo.iam.gserviceaccount.com", keyID: "key-1")
        let token = gateways[0].grant(to: account, at: now)
        #expect(gateways[1].account(of: token, at: now.addingTimeInterval(3599)) == account)
        #expect(gateways[1].account(of: token, at: now.addingTimeInterval(3600)) == nil)
        let others = [
            DerivedKeys(Array(repeating: 4, count: 32)).key(for: .accessTokens), keys.key(for: .confirmations),
        ]
        for key in others { #expect(GrantedTokens(key: key).account(of: token, at: now) == nil) }
    }

    @Test func aChangedTokenIsUnknown() {
        let tokens = GrantedTokens(key: Array(repeating: 3, count: 32))
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let account = ServiceAccountKey(email: "sender@demo.iam.gserviceaccount.com", keyID: "key-1")
        let token = tokens.grant(to: account, at: now)
        for index in token.indices {
            let other: Character = token[index] == "0" ? "1" : "0"
            let changed = token.replacingCharacters(in: index..<token.index(after: index), with: String(other))
            #expect(tokens.account(of: changed, at: now) == nil, "\(changed)")
        }
        for text in ["", "ya29.c.signalbox-", token + "0", token + "00", token.uppercased(), String(token.dropLast())] {
            #expect(tokens.account(of: text, at: now) == nil, "\(text)")
        }
    }

    @Test func formsAreDecoded() {
        let form = FormParameters("a=1+2&b=%2B%26&c&=d&a=3&bad=%zz".utf8)
        #expect(form["a"] == "1 2")
        #expect(form["b"] == "+&")
        #expect(form["c"] == "")
        #expect(form["bad"] == "%zz")
        #expect(form["missing"] == nil)
    }
}
