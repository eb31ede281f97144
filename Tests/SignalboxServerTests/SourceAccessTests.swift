import HTTPTypes
import SignalboxConfig
import SignalboxNotification
import Testing

@testable import SignalboxServer

@Suite struct SourceAccessTests {
    private let access = SourceAccess([SourceName("ios"): ["first", "second"], SourceName("android"): ["third"]])

    private static func credentials(_ authorization: String?, host: String = "127.0.0.1") -> Credentials {
        Credentials(authority: host, origin: nil, authorization: authorization)
    }

    @Test(arguments: ["Bearer first", "bearer first", "BEARER  first ", "Bearer second"])
    func identifiesASourceByItsToken(header: String) throws {
        #expect(try access.source(named: nil, of: Self.credentials(header), for: .notifications) == SourceName("ios"))
        #expect(try access.source(named: "ios", of: Self.credentials(header), for: .notifications) == SourceName("ios"))
    }

    @Test(arguments: [nil, "", "first", "Bearer", "Bearer ", "Bearer firs", "Bearer firstx", "Basic first"])
    func rejectsOtherTokens(header: String?) {
        #expect(throws: Problem.self) {
            try access.source(named: nil, of: Self.credentials(header), for: .notifications)
        }
    }

    @Test func aTokenGrantsItsOwnSourceOnly() {
        #expect(throws: Problem.self) {
            try access.source(named: "android", of: Self.credentials("Bearer first"), for: .notifications)
        }
        #expect(throws: Problem.self) {
            try access.source(named: "web", of: Self.credentials("Bearer first"), for: .notifications)
        }
    }

    /// Its sources have identities at provider endpoints only.
    @Test func aConfigWithoutTokensIsNotOpen() {
        let access = SourceAccess([SourceName("ios"): []])
        #expect(!access.isOpen)
        #expect(throws: Problem.self) { try access.source(named: nil, of: Self.credentials(nil), for: .notifications) }
        #expect(throws: Problem.self) {
            try access.source(named: "ios", of: Self.credentials("Bearer "), for: .notifications)
        }
    }

    @Test func openAccessAcceptsAnyName() throws {
        #expect(try SourceAccess.open.source(named: nil, of: Self.credentials(nil), for: .notifications) == .default)
        #expect(
            try SourceAccess.open.source(named: "ios", of: Self.credentials(nil), for: .notifications)
                == SourceName("ios"))
        #expect(throws: Problem.self) {
            try SourceAccess.open.source(named: "a/b", of: Self.credentials(nil), for: .notifications)
        }
        #expect(throws: Problem.self) {
            try SourceAccess.open.source(
                named: nil, of: Self.credentials(nil, host: "evil.example"), for: .notifications)
        }
    }

    /// A token of an app, which its users can read, does not send.
    @Test func aSourceHasItsRightsOnly() throws {
        let (app, backend) = (SourceName("app"), SourceName("backend"))
        let access = SourceAccess(
            [app: ["a"], backend: ["b"]], rights: [app: [.interactions, .categories]])
        for right in SourceRight.allCases {
            #expect(try access.source(named: nil, of: Self.credentials("Bearer b"), for: right) == backend)
            let mayApp = [.interactions, .categories].contains(right)
            do throws(Problem) {
                let source = try access.source(named: "app", of: Self.credentials("Bearer a"), for: right)
                #expect(mayApp && source == app)
            } catch {
                #expect(!mayApp && error.code == "source-forbidden")
                #expect(error.detail.contains("\"\(right.rawValue)\""))
            }
        }
        // The right does not tell whether a token is valid.
        let wrong = #expect(throws: Problem.self) {
            try access.source(named: nil, of: Self.credentials("Bearer c"), for: .notifications)
        }
        #expect(wrong == .unauthorized)
    }

    @Test func openAccessEndsAtAProxy() {
        var forwarded = Self.credentials(nil)
        forwarded.isForwarded = true
        let error = #expect(throws: Problem.self) {
            try SourceAccess.open.source(named: nil, of: forwarded, for: .notifications)
        }
        #expect(error == .forwardedOpen)
        #expect(error?.detail.contains("\"sources\"") == true)
    }

    /// With tokens, a proxy is as good as any client.
    @Test func tokensCountBehindAProxy() throws {
        var forwarded = Self.credentials("Bearer first")
        forwarded.isForwarded = true
        #expect(try access.source(named: nil, of: forwarded, for: .notifications) == SourceName("ios"))
    }

    @Test func showsNoTokenHoweverItIsPrinted() {
        struct Holder { let access: SourceAccess }
        for text in ["\(access)", String(reflecting: access), "\(Holder(access: access))"] {
            #expect(!text.contains("first") && !text.contains("third"))
        }
    }
}
