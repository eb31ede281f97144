import SignalboxNotification
import Testing

@testable import SignalboxServer

@Suite struct SourceAccessTests {
    private let access = SourceAccess([SourceName("ios"): ["first", "second"], SourceName("android"): ["third"]])

    @Test(arguments: ["Bearer first", "bearer first", "BEARER  first ", "Bearer second"])
    func knowsASourceByItsToken(header: String) throws {
        #expect(try access.source(named: nil, authorization: header) == SourceName("ios"))
        #expect(try access.source(named: "ios", authorization: header) == SourceName("ios"))
    }

    @Test(arguments: [nil, "", "first", "Bearer", "Bearer ", "Bearer firs", "Bearer firstx", "Basic first"])
    func refusesEverybodyElse(header: String?) {
        #expect(throws: Problem.self) { try access.source(named: nil, authorization: header) }
    }

    @Test func aTokenIsGoodForItsOwnSourceOnly() {
        #expect(throws: Problem.self) { try access.source(named: "android", authorization: "Bearer first") }
        #expect(throws: Problem.self) { try access.source(named: "web", authorization: "Bearer first") }
    }

    @Test func openAccessTakesAnyName() throws {
        #expect(try SourceAccess.open.source(named: nil, authorization: nil) == .default)
        #expect(try SourceAccess.open.source(named: "ios", authorization: nil) == SourceName("ios"))
        #expect(throws: Problem.self) { try SourceAccess.open.source(named: "a/b", authorization: nil) }
    }

    @Test func showsNoTokenHoweverItIsPrinted() {
        struct Holder { let access: SourceAccess }
        for text in ["\(access)", String(reflecting: access), "\(Holder(access: access))"] {
            #expect(!text.contains("first") && !text.contains("third"))
        }
    }
}
