import HTTPTypes
import Testing

@testable import SignalboxServer

@Suite struct EndpointTests {
    private static let known = ["state", "destination", "event"]

    private static func problem(_ query: String, known: [String] = known) -> Problem? {
        do throws(Problem) {
            try Endpoint.check(query, known: known)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", "&", "state=dead", "state=dead&destination=crm", "destination", "event=a=b"])
    func knownParametersPass(_ query: String) {
        #expect(Self.problem(query) == nil)
    }

    @Test func namesTheNearestParameter() throws {
        let problem = try #require(Self.problem("destinaton=x"))
        #expect(problem.status == .badRequest)
        #expect(problem.code == "parameter-unknown")
        #expect(problem.detail.contains("\"destinaton\""))
        #expect(problem.detail.contains("did you mean destination?"))
    }

    @Test(arguments: [
        "limit=1", "state=dead&cursor=1", "State=dead", "=x", "destination%5B%5D=x", "%73tate=dead", "x;y",
    ])
    func rejectsUnknownParameters(_ query: String) {
        #expect(Self.problem(query)?.code == "parameter-unknown")
    }

    @Test func listsAllParametersWithoutANearOne() throws {
        #expect(try #require(Self.problem("zzzzzzzz")).detail.contains("known: state, destination, event."))
        #expect(try #require(Self.problem("zzzzzzzz", known: [])).detail.contains("this endpoint has none."))
    }

    @Test func rejectsRepeatedParameters() throws {
        let problem = try #require(Self.problem("state=dead&event=1&state=waiting"))
        #expect(problem.code == "parameter-repeated")
        #expect(problem.detail.contains("state"))
    }

    /// The check of the longest possible query stops at its first unknown parameter.
    @Test func aLongNameIsNotCompared() throws {
        let problem = try #require(Self.problem(String(repeating: "a", count: 80_000)))
        #expect(problem.detail.utf8.count < 300)
    }

    @Test func namesTheMethodsOfAPath() {
        #expect(Endpoint.allow(at: "/healthz") == "GET, HEAD")
        #expect(Endpoint.allow(at: "/v1/failures/slow") == "PUT, DELETE")
        #expect(Endpoint.allow(at: "/v1/failures/") == nil)
        #expect(Endpoint.allow(at: "/v1/failures/slow/x") == nil)
        #expect(Endpoint.allow(at: "healthz") == nil)
    }

    @Test func everyEndpointIsDeclaredOnce() {
        let endpoints = Endpoint.all.map { "\($0.method) \($0.path)" }
        #expect(Set(endpoints).count == endpoints.count)
    }
}
