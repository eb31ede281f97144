import HTTPTypes
import SignalboxConfig
import Testing

@testable import SignalboxServer

@Suite struct AdminAccessTests {
    private static let access = AdminAccess(
        tokens: [
            .init(name: "admin", role: .admin, content: true, text: "root"),
            .init(name: "ann", role: .operator, content: false, text: "first"),
            .init(name: "ann", role: .operator, content: false, text: "second"),
            .init(name: "grafana", role: .metrics, content: true, text: "scrape"),
        ], isOpen: false)

    private static func request(_ token: String?, _ fields: [String: String] = [:]) -> HTTPRequest {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:8080", path: "/v1/whoami")
        if let token { head.headerFields[.authorization] = "Bearer " + token }
        for (name, value) in fields { head.headerFields[text: name] = value }
        return head
    }

    private static func result(_ access: AdminAccess, _ head: HTTPRequest) -> Result<Operator, Problem> {
        do throws(Problem) { return .success(try access.actor(of: head)) } catch { return .failure(error) }
    }

    @Test(arguments: [("root", "admin"), ("first", "ann"), ("second", "ann"), ("scrape", "grafana")])
    func aTokenNamesItsActor(token: String, name: String) throws {
        #expect(try Self.access.actor(of: Self.request(token)).name == name)
    }

    @Test(arguments: [nil, "", "roo", "roots", "ROOT"])
    func otherTokensAreRejected(token: String?) {
        #expect(Self.result(Self.access, Self.request(token)) == .failure(.adminUnauthorized))
    }

    @Test func aRoleIncludesTheFormerOnes() {
        for held in OperatorRole.allCases {
            let actor = Operator(name: "x", role: held, readsContent: true)
            for needed in OperatorRole.allCases {
                let isAllowed = (try? actor.require(needed)) != nil
                let (first, second) = (
                    OperatorRole.allCases.firstIndex(of: held), OperatorRole.allCases.firstIndex(of: needed)
                )
                #expect(isAllowed == ((first ?? 0) >= (second ?? 0)), "\(held) \(needed)")
            }
        }
        let refusal = Problem.roleInsufficient(.operator, of: Operator(name: "x", role: .reader, readsContent: true))
        #expect(refusal.status == .forbidden && refusal.code == "role-insufficient")
        #expect(refusal.detail.contains("role operator"))
    }

    @Test func withoutTokensOnlyThisMachineHasAccess() {
        let open = AdminAccess(tokens: [], isOpen: true)
        #expect(Self.result(open, Self.request(nil)) == .success(.local))
        #expect(Self.result(open, Self.request(nil, ["via": "1.1 proxy"])) == .failure(.forwardedOpen))
        #expect(Self.result(AdminAccess(tokens: [], isOpen: false), Self.request(nil)) == .failure(.adminClosed))
    }

    @Test func printsNoToken() {
        #expect("\(Self.access)" == "4 tokens" && String(reflecting: Self.access) == "4 tokens")
    }
}
