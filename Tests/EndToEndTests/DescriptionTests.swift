import Foundation
import SignalboxServerTesting
import Testing

/// The description of the API, as clients read it.
@Suite(.timeLimit(.minutes(1))) struct DescriptionTests {
    @Test func servesTheDocumentOfTheCommand() async throws {
        try await Gateway.run { gateway, _, _ in
            let served = try await Reply(gateway.url + "/openapi.json")
            #expect(served.status == 200)
            #expect(served.headers["content-type"] == "application/json")
            let printed = try await binary.run(["schema", "openapi"])
            #expect(printed.status == 0)
            let documents = try [Data(served.body), Data(printed.output.utf8)].map {
                try #require(try JSONSerialization.jsonObject(with: $0) as? NSDictionary)
            }
            #expect(documents[0] == documents[1])
            let tag = try #require(served.headers["etag"])
            let again = try await Reply(gateway.url + "/openapi.json", "-H", "if-none-match: \(tag)")
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
        }
    }

    /// Methods without a handler of their own.
    @Test(arguments: ["TRACE", "PATCH"]) func namesTheMethodsOfAPath(_ method: String) async throws {
        try await Gateway.run { gateway, _, _ in
            let reply = try await Reply(gateway.url + "/v1/failures/slow", "-X", method)
            #expect(reply.status == 405)
            #expect(reply.headers["allow"] == "PUT, DELETE")
        }
    }
}
