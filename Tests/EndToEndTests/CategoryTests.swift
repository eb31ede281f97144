import Foundation
import FoundationNetworking
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Categories that payloads define and apps register, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct CategoryTests {
    private static let payload = Data(
        """
        {"aps":{"alert":"Hi","mutable-content":1},"notification-action":{"type":"openApp"},"category-actions":[
          {"name":"Map","type":"url","value":"https://example.com/map"},
          {"name":"Cancel","type":"cancelOrder","value":"77","destructive":true,"authentication":true,"foreground":false},
          {"name":"Reply","type":"textInput","destructive":false,"authentication":false,"foreground":false}]}
        """.utf8)
    private static let statics = """
        "categories": { "static": { "ORDER/1": { "actions": [
          { "identifier": "OK", "title": "Fine", "options": ["foreground"] },
          { "identifier": "SAY", "title": "Say", "textInput": { "buttonTitle": "Send", "placeholder": "Text" } } ] } } },
        """

    private struct Answer {
        let status: Int
        let headers: HTTPURLResponse
        let body: Data

        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }
        var categories: [[String: Any]] { json["categories"] as? [[String: Any]] ?? [] }
        var identifiers: [String] { categories.compactMap { $0["identifier"] as? String } }
        func header(_ name: String) -> String? { headers.value(forHTTPHeaderField: name) }
    }

    /// Sends a request on a new connection, without a cache.
    private static func ask(
        _ gateway: Gateway, _ path: String = "/v1/categories", _ headers: [String: String] = [:],
        method: String = "GET"
    ) async throws -> Answer {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: try #require(URL(string: gateway.url + path)))
        request.httpMethod = method
        request.cachePolicy = .reloadIgnoringLocalCacheData
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (body, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return Answer(status: http.statusCode, headers: http, body: body)
    }

    // MARK: The set

    @Test func servesCategoriesThatPayloadsDefine() async throws {
        try await Gateway.run { gateway, receiver, _ in
            #expect(try await Self.ask(gateway).categories.isEmpty)
            for _ in 0..<3 { #expect(try await gateway.post(Self.payload).status == 202) }
            let event = try #require(await receiver.next(1).first)
            let told = try JSONSerialization.jsonObject(with: Data(event.body)) as? [String: Any]
            let category = (told?["data"] as? [String: Any])?["category"] as? [String: Any]
            let identifier = try #require(category?["identifier"] as? String)
            let list = try await Self.ask(gateway)
            #expect(list.status == 200)
            #expect(list.header("content-type") == "application/json")
            #expect(list.header("cache-control") == "private, no-cache")
            #expect(list.identifiers == [identifier])
            let one = try await Self.ask(gateway, "/v1/categories/" + identifier)
            #expect(one.json as NSDictionary == list.categories.first as NSDictionary?)
            #expect(one.json as NSDictionary == Self.expected(identifier) as NSDictionary?)
        }
    }

    /// The example of docs/guides/categories.md.
    private static func expected(_ identifier: String) -> [String: Any]? {
        let text = """
            {"identifier":"\(identifier)","origin":"dynamic","intentIdentifiers":[],"options":[],"actions":[
              {"identifier":"url:https://example.com/map","title":"Map","options":["foreground"],"type":"openUrl",
               "value":"https://example.com/map",
               "android":{"showsUserInterface":true,"authenticationRequired":false,"semanticAction":0}},
              {"identifier":"cancelOrder:77","title":"Cancel","options":["authenticationRequired","destructive"],
               "type":"custom","value":"77",
               "android":{"showsUserInterface":false,"authenticationRequired":true,"semanticAction":0}},
              {"identifier":"textInput","title":"Reply","options":[],"type":"reply","textInput":{},
               "android":{"showsUserInterface":false,"authenticationRequired":false,"semanticAction":1,
                          "remoteInput":{"resultKey":"textInput"}}}]}
            """
        return (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]
    }

    @Test func servesDeclaredCategoriesAndUsesTheirLabels() async throws {
        try await Gateway.run(config: Self.statics) { gateway, receiver, directory in
            #expect(try await Self.ask(gateway).identifiers == ["ORDER/1"])
            let one = try await Self.ask(gateway, "/v1/categories/ORDER%2F1")
            #expect(one.status == 200)
            #expect(one.json["origin"] as? String == "static")
            let missing = try await Self.ask(gateway, "/v1/categories/ORDER")
            #expect(missing.status == 404)
            #expect(missing.json["code"] as? String == "category-not-found")
            #expect(try await gateway.post(Self.payload).status == 202)
            #expect(try await Self.ask(gateway).identifiers.count == 2)
            let named = #"{"aps":{"alert":"Hi","category":"ORDER/1"}}"#
            try Data(named.utf8).write(to: URL(fileURLWithPath: directory + "/named.json"))
            for command in ["normalize", "explain"] {
                let output = try await binary.run([command, "named.json"], in: directory, environment: [:]).output
                #expect(output.contains("Fine"), "\(command)")
            }
        }
    }

    @Test func theListIsPaged() async throws {
        try await Gateway.run(config: Self.statics) { gateway, _, _ in
            for number in 0..<4 {
                let payload = String(decoding: Self.payload, as: UTF8.self).replacing(
                    "\"Map\"", with: "\"Map \(number)\"")
                #expect(try await gateway.post(Data(payload.utf8)).status == 202)
            }
            let all = try await Self.ask(gateway)
            #expect(all.identifiers.count == 5)
            #expect(all.json["next"] == nil)
            var (found, path) = ([String](), "/v1/categories?limit=2")
            for size in [2, 2, 1] {
                let page = try await Self.ask(gateway, path)
                #expect(page.identifiers.count == size)
                found += page.identifiers
                path = "/v1/categories?limit=2&cursor=\(page.json["next"] as? String ?? "")"
            }
            #expect(found == all.identifiers)
            for query in ["limit=0", "limit=501", "cursor=%25", "limit=x"] {
                let refused = try await Self.ask(gateway, "/v1/categories?" + query)
                #expect(refused.status == 400, "\(query)")
                #expect(refused.json["code"] as? String == "query-malformed", "\(query)")
            }
        }
    }

    @Test func theRegistryOutlivesTheProcess() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let first = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                #expect(try await first.post(Self.payload).status == 202)
                let before = try await Self.ask(first)
                await first.kill()
                let second = try await Gateway.start(in: directory)
                let after = try await Self.ask(second)
                #expect(after.body == before.body)
                #expect(after.header("etag") == before.header("etag"))
                #expect(await second.stop() == 0)
            }
        }
    }

    // MARK: Asking again

    @Test func answers304ForAKnownVersion() async throws {
        try await Gateway.run { gateway, _, _ in
            #expect(try await gateway.post(Self.payload).status == 202)
            let first = try await Self.ask(gateway)
            let tag = try #require(first.header("etag"))
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""), "strong")
            for field in [tag, "W/" + tag, "\"other\", " + tag, "*"] {
                let again = try await Self.ask(gateway, "/v1/categories", ["if-none-match": field])
                #expect(again.status == 304, "\(field)")
                #expect(again.body.isEmpty)
                #expect(again.header("etag") == tag)
                #expect(again.header("cache-control") == "private, no-cache")
            }
            #expect(try await Self.ask(gateway, "/v1/categories", ["if-none-match": "\"other\""]).status == 200)
            let head = try await Self.ask(gateway, method: "HEAD")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.header("etag") == tag)
            let other = Data(#"{"_ab":"true","t":"T","a":"B","ab_a0_a":"ab_open","ab_a0_t":"Open"}"#.utf8)
            #expect(try await gateway.post(other).status == 202)
            let changed = try await Self.ask(gateway, "/v1/categories", ["if-none-match": tag])
            #expect(changed.status == 200)
            #expect(changed.categories.count == 2)
            #expect(try await Self.ask(gateway, method: "DELETE").header("allow") == "GET, HEAD")
        }
    }

    // MARK: Access

    @Test func servesSourcesAndOperatorsOnly() async throws {
        let config =
            #""sources": { "app": { "auth": { "bearer": ["env:APP"] } } }, "admin": { "auth": { "bearer": ["env:ADMIN"] } },"#
        let environment = ["APP": "app-token", "ADMIN": "admin-token"]
        try await Gateway.run(config: config, environment: environment) { gateway, _, _ in
            for path in ["/v1/categories", "/v1/categories/x"] {
                for (token, isGood) in [("app-token", true), ("admin-token", true), ("other", false), ("", false)] {
                    let answer = try await Self.ask(gateway, path, ["authorization": "Bearer " + token])
                    #expect(answer.status == (!isGood ? 401 : path.hasSuffix("x") ? 404 : 200), "\(token)")
                }
                #expect(try await Self.ask(gateway, path).status == 401)
            }
        }
        try await Gateway.run { gateway, _, _ in
            let foreign = try await Self.ask(gateway, "/v1/categories", ["origin": "https://example.com"])
            #expect(foreign.status == 403)
        }
    }
}
