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
        #expect(try access.source(named: nil, of: Self.credentials(header)) == SourceName("ios"))
        #expect(try access.source(named: "ios", of: Self.credentials(header)) == SourceName("ios"))
    }

    @Test(arguments: [nil, "", "first", "Bearer", "Bearer ", "Bearer firs", "Bearer firstx", "Basic first"])
    func rejectsOtherTokens(header: String?) {
        #expect(throws: Problem.self) { try access.source(named: nil, of: Self.credentials(header)) }
    }

    @Test func aTokenGrantsItsOwnSourceOnly() {
        #expect(throws: Problem.self) { try access.source(named: "android", of: Self.credentials("Bearer first")) }
        #expect(throws: Problem.self) { try access.source(named: "web", of: Self.credentials("Bearer first")) }
    }

    /// Its sources have identities at provider endpoints only.
    @Test func aConfigWithoutTokensIsNotOpen() {
        let access = SourceAccess([SourceName("ios"): []])
        #expect(!access.isOpen)
        #expect(throws: Problem.self) { try access.source(named: nil, of: Self.credentials(nil)) }
        #expect(throws: Problem.self) { try access.source(named: "ios", of: Self.credentials("Bearer ")) }
    }

    @Test func openAccessAcceptsAnyName() throws {
        #expect(try SourceAccess.open.source(named: nil, of: Self.credentials(nil)) == .default)
        #expect(try SourceAccess.open.source(named: "ios", of: Self.credentials(nil)) == SourceName("ios"))
        #expect(throws: Problem.self) { try SourceAccess.open.source(named: "a/b", of: Self.credentials(nil)) }
        #expect(throws: Problem.self) {
            try SourceAccess.open.source(named: nil, of: Self.credentials(nil, host: "evil.example"))
        }
    }

    @Test func showsNoTokenHoweverItIsPrinted() {
        struct Holder { let access: SourceAccess }
        for text in ["\(access)", String(reflecting: access), "\(Holder(access: access))"] {
            #expect(!text.contains("first") && !text.contains("third"))
        }
    }
}
