import SignalboxConfig
import Testing

@Suite struct StoreConfigTests {
    private func config(_ store: String) throws -> GatewayConfig {
        let text = #"{"gateway": {"store": \#(store)}}"#
        return try ConfigReading([ConfigText(name: "routes.json", bytes: Array(text.utf8))]).finish()
    }

    private func store(_ json: String) throws -> GatewayConfig.Store {
        try #require(try config(json).gateway.store)
    }

    /// All mistakes of a config with this store; empty for none.
    private func problem(_ store: String) throws -> String {
        do {
            _ = try config(store)
            return ""
        } catch let error as InvalidConfig {
            return error.mistakes.map(\.description).joined(separator: "; ")
        }
    }

    @Test func namesAnEmbeddedQueueOrADatabase() throws {
        #expect(try store(#""sqlite""#) == GatewayConfig.Store())
        let url = "postgres://signalbox@a:5432,b/queue?sslmode=verify-full"
        #expect(try store("\"\(url)\"") == GatewayConfig.Store(url: url))
        let object = try store(#"{"url": "postgresql://db/queue", "password": "env:SECRET", "schema": "push"}"#)
        #expect(object.url == "postgresql://db/queue" && object.schema == "push")
        let resolver = SecretResolver(path: "routes.json", environment: ["SECRET": "open sesame"])
        #expect(try resolver.password(of: object) == "open sesame")
        #expect(try resolver.password(of: GatewayConfig.Store()) == nil)
    }

    @Test(arguments: [
        #""postgres://signalbox:hunter2@db/queue""#, #""postgres://db/queue?sslmode=require&password=hunter2""#,
        #""postgres://signalbox:hunter2?x@db/queue""#, #""postgres://us?er@db/queue?password=hunter2""#,
        #""postgres://db/queue?pass%77ord=hunter2""#, #"{"url": "postgres://signalbox:hunter2@db/queue"}"#,
    ])
    func refusesAPasswordInTheURLWithoutRepeatingIt(_ text: String) throws {
        let problem = try problem(text)
        #expect(problem.contains("the URL has a password; remove it"))
        #expect(!problem.contains("hunter2"))
    }

    @Test(arguments: [
        #""mysql://db/queue""#, #""""#, "5", #"{"password": "env:SECRET"}"#,
        #"{"url": "postgres://db", "schema": "a b"}"#,
        #""postgres://db/queue?options=-c%20fsync=off""#, #"{"url": "postgres://db", "password": "hunter2"}"#,
    ])
    func rejectsTextsThatNameNoStore(_ text: String) throws {
        #expect(try !problem(text).isEmpty)
    }

    @Test func describesTheStoreWithoutItsUser() throws {
        #expect(GatewayConfig.Store().words == "sqlite")
        #expect(GatewayConfig.Store(url: "postgres://me@db:1/q?sslmode=require").words == "postgres://db:1/q")
    }
}
