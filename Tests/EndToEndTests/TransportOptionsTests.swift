import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Transport options of a destination, through the built binary.
@Suite(.timeLimit(.minutes(15))) struct TransportOptionsTests {
    private let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8)
    private let taken = ["--reply", #"HTTP/1.1 204 No Content\r\n\r\n"#]

    private func config(_ url: String, _ more: String) -> String {
        """
        { "gateway": { "name": "test" }, "egress": { "allow": ["127.0.0.0/8"] },
          "destinations": { "crm": { "url": "\(url)", "secret": "env:WEBHOOK_SECRET", \(more)
            "retry": { "attempts": 1 } } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
        """
    }

    @Test func deliversWithHeadersCertificatesAndAToken() async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let tls = ["--certificate", files.path("good.pem"), "--key", files.path("server.key")]
            let grant = #"HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\n{"access_token":"t0k3n"}"#
            let mutual = ["canned", "--client-authority", files.path("ca.pem")] + tls + taken
            try await Peer.run(["canned", "--reply", grant] + tls) { tokens in
                try await Peer.run(mutual) { receiver in
                    let access = """
                        "headers": { "x-api-key": "env:CRM_KEY", "x-tenant": "acme" },
                        "tls": { "ca": "\(files.path("ca.pem"))", "certificate": "\(files.path("client.pem"))",
                          "key": "\(files.path("client.key"))", "pin": "\(try files.serverPin())", "minimum": "1.3" },
                        "oauth2": { "tokenUrl": "https://localhost:\(tokens.port)/token", "clientId": "me",
                          "clientSecret": "env:CRM_CLIENT" },
                        """
                    let gateway = try await Gateway.start(
                        in: directory, config: config("https://localhost:\(receiver.port)/hook", access),
                        environment: ["CRM_KEY": "hunter2", "CRM_CLIENT": "s3cret"])
                    _ = try await gateway.post(payload)
                    let request = try #require(try await receiver.next())
                    #expect(request.line == "POST /hook HTTP/1.1")
                    #expect(request.headers["x-api-key"] == "hunter2")
                    #expect(request.headers["x-tenant"] == "acme")
                    #expect(request.headers["authorization"] == "Bearer t0k3n")
                    #expect(request.headers["webhook-signature"]?.hasPrefix("v1,") == true)
                    #expect(await gateway.stop() == 0)
                }
            }
        }
    }

    @Test func usesTheProxyOfTheEnvironmentOnlyIfConfigured() async throws {
        try await withTemporaryDirectory { directory in
            try await Peer.run(["canned"] + taken) { proxy in
                try await Peer.run(["canned"] + taken) { receiver in
                    let inherited = ["http_proxy", "https_proxy", "ALL_PROXY"].map {
                        ($0, "http://127.0.0.1:\(proxy.port)")
                    }
                    let environment = Dictionary(uniqueKeysWithValues: inherited)
                    let url = "http://127.0.0.1:\(receiver.port)/hook"
                    let direct = try await Gateway.start(
                        in: directory, config: config(url, ""), environment: environment)
                    _ = try await direct.post(payload)
                    #expect(try await receiver.next()?.line == "POST /hook HTTP/1.1")
                    #expect(await direct.stop() == 0)

                    let asked = try await Gateway.start(
                        in: directory, config: config(url, #""proxy": "environment","#), environment: environment)
                    _ = try await asked.post(payload)
                    #expect(try await proxy.next()?.line == "POST \(url) HTTP/1.1")
                    #expect(await asked.stop() == 0)

                    // A proxy of the config is used even if the environment excludes the host.
                    let own = #""proxy": "http://127.0.0.1:\#(proxy.port)","#
                    let named = try await Gateway.start(
                        in: directory, config: config(url, own), environment: ["no_proxy": "*"])
                    _ = try await named.post(payload)
                    #expect(try await proxy.next()?.line == "POST \(url) HTTP/1.1")
                    #expect(await named.stop() == 0)
                }
            }
        }
    }

    @Test(arguments: [
        ("127.0.0.1", "crm: answered 407 after "), ("", "crm: not connected: the proxy answered 407 ("),
    ])
    func blamesTheProxyOfTheEnvironmentOnlyIfItAnswered(exceptions: String, words: String) async throws {
        try await withTemporaryDirectory { directory in
            let reply = #"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"#
            try await Peer.run(["canned", "--reply", reply]) { receiver in
                let url = "http://127.0.0.1:\(receiver.port)/hook"
                try Data(config(url, #""proxy": "environment","#).utf8).write(
                    to: URL(fileURLWithPath: directory + "/routes.json"))
                let result = try await binary.run(
                    ["destinations", "ping", "crm"], in: directory,
                    environment: [
                        "WEBHOOK_SECRET": Gateway.secret, "http_proxy": "http://127.0.0.1:\(receiver.port)",
                        "no_proxy": exceptions,
                    ])
                #expect(result.status == 1 && result.output.hasPrefix(words), "\(result)")
            }
        }
    }

    @Test(arguments: [
        (
            #""tls": { "ca": "/nowhere/ca.pem" },"#,
            "/destinations/crm/tls/ca: the file /nowhere/ca.pem cannot be read: No such file or directory."
        ),
        (
            #""headers": { "x-api-key": "env:TWO_LINES" },"#,
            "/destinations/crm/headers/x-api-key: env:TWO_LINES is not a valid header value: use one line of visible ASCII."
        ),
        (
            #""oauth2": { "tokenUrl": "https://a.example", "clientId": "a", "clientSecret": "env:NOT_THERE" },"#,
            "/destinations/crm/oauth2/clientSecret: the environment variable NOT_THERE is not set; set it to the value of the option."
        ),
    ])
    func refusesToStartWithUnusableOptions(access: String, words: String) async throws {
        try await withTemporaryDirectory { directory in
            try Data(config("https://crm.example/", access).utf8).write(
                to: URL(fileURLWithPath: directory + "/routes.json"))
            let result = try await binary.run(
                ["serve", "--listen", "127.0.0.1:0"], in: directory,
                environment: ["WEBHOOK_SECRET": Gateway.secret, "TWO_LINES": "hunter2\r\nwebhook-id: a"])
            #expect(result.status == 2)
            #expect(result.errors.contains(words))
            #expect(!result.errors.contains("hunter2"))
        }
    }
}
