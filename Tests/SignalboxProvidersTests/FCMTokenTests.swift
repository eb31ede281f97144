import Foundation
import SignalboxEgress
import SignalboxTesting
import Testing

@testable import SignalboxServer

@Suite struct FCMTokenTests {
    private static let grantType = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
    private static let path = "/v1/projects/demo/messages:send"

    private static func request(_ assertion: String) -> String { "grant_type=\(grantType)&assertion=\(assertion)" }

    /// Scenario 35.
    @Test(arguments: try Assertions().assertions)
    func assertionsAreVerified(_ assertion: Assertions.Case) async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let reply = try await bench.post("/token", Self.request(assertion.text))
            guard let error = assertion.error else {
                #expect(reply.status == 200)
                #expect(reply.string("/token_type") == "Bearer")
                #expect(reply.text.contains("\"expires_in\":3599"))
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

    @Test func anAccountEndsItsOwnTokensOnly() {
        let table = AccessTokenTable()
        let now = Date(timeIntervalSince1970: 0)
        let busy = ServiceAccountKey(email: "busy@demo.iam.gserviceaccount.com", keyID: "key-1")
        let calm = ServiceAccountKey(email: "calm@demo.iam.gserviceaccount.com", keyID: "key-1")
        let kept = table.grant(to: calm, at: now)
        let tokens = (0...1_000).map { _ in table.grant(to: busy, at: now) }
        #expect(table.account(of: tokens[0], at: now) == nil)
        #expect(table.account(of: tokens[1], at: now) == busy)
        #expect(table.account(of: tokens[1_000], at: now) == busy)
        #expect(table.account(of: kept, at: now) == calm)
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
