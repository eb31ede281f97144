import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Google's and Expo's client libraries against the built gateway, on its HTTP listener. `make test` installs them; the
/// tests are skipped without them.
@Suite(.serialized, .enabled(if: ClientLibraries.areInstalled)) struct ProviderGoogleTests {
    /// Two sources: `mobile` with a service account and a token of Expo, `other` with a project.
    private static let sources = """
        "sources": {
          "mobile": {
            "fcm": {"projects": ["demo"], "keys": ["env:SERVER_KEY"], "serviceAccounts": [
              {"email": "sender@demo.iam.gserviceaccount.com", "keyId": "key-1", "publicKey": "file:key.pub"}]},
            "expo": {"tokens": ["env:EXPO_TOKEN"]}},
          "other": {"auth": {"bearer": ["env:OTHER_TOKEN"]}, "fcm": {"projects": ["elsewhere"]}}
        },
        "admin": {"auth": {"bearer": ["env:ADMIN_TOKEN"]}},
        """
    private static let environment = [
        "SERVER_KEY": "server-key", "EXPO_TOKEN": "expo-token", "OTHER_TOKEN": "other-token",
        "ADMIN_TOKEN": "admin-token",
    ]

    /// One line of the output of `fcm-clients.py`.
    private struct Result: Decodable {
        let scenario: String
        let ok: Bool
        let results: [Bool]?
        let error: String?
    }

    /// The scenarios of `fcm-clients.py`, each with the number of events that it makes.
    private static let accepted = [
        "a_rejected_token_is_renewed": 2,
        "an_assertion_of_another_key_is_rejected": 0,
        "a_dry_run_has_a_fixed_message_id": 0,
        "a_multicast_reports_its_malformed_token": 499,
        "fields_beyond_their_limits_are_rejected": 2,
        "both_apis_manage_topics": 0,
        "pyfcm_sends_and_renews_its_token": 2,
        "requests_without_a_library_are_answered": 1,
        "a_project_of_another_source_is_rejected": 0,
        "expo_returns_tickets_and_receipts": 1,
        "an_unregistered_token_raises_its_error": 499,
        "firebase_repeats_after_503_and_429": 2,
    ]

    /// The failure rules of `an_unregistered_token_raises_its_error` and `firebase_repeats_after_503_and_429`.
    private static let failures = """
        "failures": [
          {"name": "dead", "token": "dead", "answer": {"reason": "UNREGISTERED"}},
          {"name": "down", "token": "down", "first": 2, "answer": {"reason": "UNAVAILABLE"}},
          {"name": "busy", "token": "busy", "first": 1, "answer": {"reason": "QUOTA_EXCEEDED", "retryAfter": "1s"}}
        ],
        """

    @Test(arguments: accepted.keys.sorted()) func clientsAreServed(scenario: String) async throws {
        try await withTemporaryDirectory { directory in
            let key = directory + "/key.pem"
            try await openssl("genrsa", "-out", key, "2048")
            try await openssl("pkey", "-in", key, "-pubout", "-out", directory + "/key.pub")
            let gateway = try await Gateway.start(
                in: directory,
                config: """
                    { "gateway": { "name": "test" }, \(Self.sources) \(Self.failures)
                      "destinations": { "inbox": { "builtin": "inbox" } },
                      "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                    """,
                environment: Self.environment)
            let output = try await ClientLibraries.run(
                "fcm-clients.py", [gateway.url, key, scenario])
            let accepted = Self.accepted[scenario] ?? 0
            if accepted > 0 { try await expectCaptures(accepted, of: gateway) }
            #expect(await gateway.stop() == 0)
            let results = try output.split(separator: "\n").map {
                try JSONDecoder().decode(Result.self, from: Data($0.utf8))
            }
            #expect(results.map(\.scenario) == [scenario])
            for result in results { #expect(result.ok, "\(result)") }
            let audit = try await binary.run(["audit"], in: directory)
            #expect(audit.status == 0)
            let row = audit.output.split(separator: "\n").first { $0.hasPrefix("inbox") }
            let events = row?.split(separator: " ")[1] ?? "0"
            #expect(events == "\(accepted)")
        }
    }

    /// Every accepted push was captured with its event.
    private func expectCaptures(_ count: Int, of gateway: Gateway) async throws {
        let captures = try await binary.run(
            ["capture", "--url", gateway.url, "--until", "\(count)", "--json"],
            environment: ["SIGNALBOX_ADMIN_TOKEN": "admin-token"])
        #expect(captures.status == 0, "\(captures.errors)")
        let lines = captures.output.split(separator: "\n")
        #expect(lines.count == count)
        #expect(lines.allSatisfy { $0.contains(#""outcome":"accepted""#) && $0.contains(#""event":{"#) })
    }

    private func openssl(_ arguments: String...) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}

/// The same endpoints on the listener for providers, over HTTP/2.
@Suite struct ProviderListenerFCMTests {
    @Test func messagesArriveOverHTTP2() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(
                in: directory,
                config: """
                    { "gateway": { "name": "test", "listen": { "apns": "127.0.0.1:0" } },
                      "destinations": { "inbox": { "builtin": "inbox" } },
                      "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                    """)
            let url = try #require(await gateway.process.providerURL())
            let send = url + "/v1/projects/demo/messages:send"
            let http2 = ["--http2-prior-knowledge", "--header", "content-type: application/json"]
            let sent = try await Reply(send, http2 + ["--data", #"{"message":{"token":"abc"}}"#])
            #expect(sent.status == 200)
            #expect(String(decoding: sent.body, as: UTF8.self).hasPrefix(#"{"name":"projects/demo/messages/"#))
            let invalid = try await Reply(send, http2 + ["--data", "{}"])
            #expect(invalid.status == 400)
            let expo = try await Reply(
                url + "/--/api/v2/push/send", http2 + ["--data", #"{"to":"ExponentPushToken[a]","body":"x"}"#])
            #expect(expo.status == 200)
            let missing = try await Reply(url + "/v1/projects/demo/none", http2)
            #expect(missing.status == 404)
            #expect(await gateway.stop() == 0)
            let audit = try await binary.run(["audit"], in: directory)
            let row = audit.output.split(separator: "\n").first { $0.hasPrefix("inbox") }
            #expect(row?.split(separator: " ")[1] == "2")
        }
    }
}

/// The programs of `Tests/Providers`, which use clients of push services.
enum ClientLibraries {
    private static let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardizedFileURL
    static let python = root.appendingPathComponent(".build/test-venv/bin/python").path

    /// Whether `make test` made the virtual environment.
    static var areInstalled: Bool {
        let packages = root.appendingPathComponent(".build/test-venv/lib/python3.11/site-packages/firebase_admin")
        return FileManager.default.fileExists(atPath: packages.path)
    }

    /// The path of a program.
    static func path(_ program: String) -> String { root.appendingPathComponent("Tests/Providers/\(program)").path }

    /// The standard output of a program. Expects that it exits with 0. `environment`: of its own; without any, requests
    /// use no proxy.
    static func run(
        _ program: String, _ arguments: [String],
        // Requests to loopback must not leave through a proxy.
        environment: [String: String] = ["NO_PROXY": "*", "no_proxy": "*"]
    ) async throws -> String {
        let process = try RunningBinary(
            URL(fileURLWithPath: python), [path(program)] + arguments, environment: environment)
        process.send(Data())
        let output = await process.output.text()
        let errors = await process.errors.text()
        #expect(await process.end() == 0, "\(errors)")
        return output
    }
}
