import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct CommandTests {
    private func normalize(
        _ input: Data, _ more: [String] = [], in directory: String? = nil
    ) async throws -> BuiltBinary.Result {
        try await binary.run(["normalize"] + more, input: input, in: directory ?? NSTemporaryDirectory())
    }

    private func subjects(_ output: String) throws -> [String] {
        try output.split(separator: "\n").map { line in
            EventRecorder.record(Array(line.utf8))
            let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return event?["subject"] as? String ?? ""
        }
    }

    private let expected = [
        "braze/alert", "braze/alert", "mce/alert", "unknown/alert", "unknown/alert", "sourse/alert", "synerise/banner",
        "synerise/alert",
    ]

    @Test func normalizeAcceptsEveryLayout() async throws {
        let lines = try mixedPayloads()
        let text = String(decoding: lines, as: UTF8.self)
        let array = "[" + text.split(separator: "\n").joined(separator: ",\n") + "]"
        let joined = text.replacingOccurrences(of: "\n", with: "")
        for input in [text, array, joined, "\u{FEFF}" + text.replacingOccurrences(of: "\n", with: "\r\n")] {
            let result = try await normalize(Data(input.utf8))
            #expect(result.status == 0)
            #expect(try subjects(result.output) == expected)
        }
    }

    /// Tokens are hashed as the gateway does if there is a key, wherever the data directory is named.
    @Test func normalizeHashesTokensWithTheKeyOfTheDataDirectory() async throws {
        try await withTemporaryDirectory { directory in
            let payload = Data(#"{"message":{"token":"abc","data":{"a":"b"}}}"#.utf8)
            func token(_ arguments: [String] = [], _ environment: [String: String] = [:]) async throws -> String {
                let result = try await binary.run(
                    ["normalize"] + arguments, input: payload, in: directory, environment: environment)
                let event = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
                let target = (event?["data"] as? [String: Any])?["target"] as? [String: Any]
                return try #require(target?["token"] as? String)
            }
            let (one, other) = (try await token(), try await token())
            #expect(one != other)
            for name in ["data", "other"] {
                try FileManager.default.createDirectory(
                    atPath: directory + "/" + name, withIntermediateDirectories: true)
                try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: directory + "/\(name)/token.key"))
            }
            let expected = try await token()
            #expect(try await token(["--data-dir", "other"]) == expected)
            // An empty variable counts as unset.
            for name in ["other", ""] { #expect(try await token([], ["SIGNALBOX_DATA_DIR": name]) == expected) }
            #expect(try await token([], ["SIGNALBOX_DATA_DIR": "none"]) != expected)
        }
    }

    /// An event that looks like the gateway's, but has another token, must not go unnoticed.
    @Test(arguments: [["normalize"], ["explain"], ["replay", "--dry-run"]])
    func warnsThatTheKeyOfTheDataDirectoryCannotBeRead(_ command: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let files = FileManager.default
            for name in ["loop", "short"] {
                try files.createDirectory(atPath: directory + "/" + name, withIntermediateDirectories: true)
            }
            try files.createSymbolicLink(atPath: directory + "/loop/token.key", withDestinationPath: "token.key")
            try Data([7]).write(to: URL(fileURLWithPath: directory + "/short/token.key"))
            try Data(#"{ "routes": [] }"#.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let reasons = ["loop": "Too many levels of symbolic links", "short": "it does not have 32 bytes"]
            for (name, reason) in reasons {
                let result = try await binary.run(
                    command + ["--data-dir", name], input: Data(#"{"aps":{"alert":"x"}}"#.utf8), in: directory)
                #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
                let warning = "signalbox: Cannot use the gateway's key \(name)/token.key: \(reason). "
                #expect(
                    result.errors.contains(warning + "Hashes of device tokens differ from the gateway's.\n"),
                    "\(result.errors)")
            }
        }
    }

    @Test func rejectsUnknownLogLevels() async throws {
        let levels = "trace, debug, info, notice, warning, error or critical."
        let cases: [([String], [String: String])] = [
            (["--log-level", "loud"], [:]), ([], ["SIGNALBOX_LOG_LEVEL": "loud"]),
        ]
        for (arguments, environment) in cases {
            let result = try await binary.run(
                ["normalize"] + arguments, in: NSTemporaryDirectory(), environment: environment)
            #expect(result.status == 64)
            #expect(result.errors.contains("loud") && result.errors.contains(levels))
        }
        let empty = try await binary.run(
            ["normalize"], in: NSTemporaryDirectory(), environment: ["SIGNALBOX_LOG_LEVEL": ""])
        #expect(empty.status == 0)
    }

    @Test func normalizeReadsFilesOneAfterAnother() async throws {
        try await withTemporaryDirectory { directory in
            try mixedPayloads().write(to: URL(fileURLWithPath: directory + "/a"))
            let result = try await normalize(try mixedPayloads(), ["a", "-", "a"], in: directory)
            #expect(try subjects(result.output) == expected + expected + expected)
        }
    }

    /// Compressed by common tools, with several members included; the file's name does not matter.
    @Test func normalizeOpensCompressedInput() async throws {
        for name in ["mixed.ndjson.gz", "twice.ndjson.gz", "mixed.ndjson.zst"] {
            let url = try #require(Bundle.module.url(forResource: "Fixtures/" + name, withExtension: nil))
            let wanted = name.hasPrefix("twice") ? expected + expected : expected
            #expect(try subjects(await normalize(Data(), [url.path]).output) == wanted, "\(name)")
            let input = try Data(contentsOf: url)
            #expect(try subjects(await normalize(input).output) == wanted, "\(name)")
            let cut = try await normalize(input.dropLast(input.count / 3))
            #expect(cut.status == 1, "\(name)")
            #expect(cut.errors.contains("damaged or cut off"), "\(name)")
        }
    }

    @Test func normalizeListsRejectsWithTheirLines() async throws {
        try await withTemporaryDirectory { directory in
            let input = "{\"aps\":{}}\n\n{\"aps\":\n{\"aps\":{}}\nnope\n{\"aps\":{}}"
            let result = try await normalize(Data(input.utf8), ["--rejects", "rejects"], in: directory)
            #expect(result.status == 1)
            #expect(try subjects(result.output).count == 3)
            let rejects = try String(contentsOfFile: directory + "/rejects", encoding: .utf8).split(separator: "\n")
            #expect(rejects.count == 2)
            #expect(rejects.first?.contains(#""line":3,"offset":12,"code":"payload-truncated""#) == true)
            #expect(rejects.last?.contains(#""line":5,"offset":31,"code":"payload-not-json""#) == true)
            #expect(result.errors.contains("line 3:"))
        }
    }

    @Test func normalizeReportsAnUnreadableInput() async throws {
        let result = try await normalize(Data(), ["no-such-file"])
        #expect(result.status == 2)
        #expect(result.errors == "signalbox: Cannot open no-such-file: No such file or directory.\n")
    }

    @Test func printsNoEventForEmptyInput() async throws {
        let result = try await normalize(Data())
        #expect(result.status == 0)
        #expect(result.output.isEmpty && result.errors.isEmpty)
    }

    @Test func replayDryRunOnlyDecides() async throws {
        try await withTemporaryDirectory { directory in
            let config =
                #"{ "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [ { "name": "braze", "match": { "data": { "vendor": ["braze"] } }, "to": ["inbox"] } ] }"#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let result = try await binary.run(["replay", "--dry-run"], input: try mixedPayloads(), in: directory)
            #expect(result.status == 0)
            #expect(result.output.split(separator: "\n").first == "braze/alert -> inbox (braze)")
            #expect(result.output.split(separator: "\n").last == "synerise/alert -> no destination")
            #expect(result.errors.contains("8 events, 0 rejected"))
            #expect(!FileManager.default.fileExists(atPath: directory + "/data"))
        }
    }

    @Test func replayDelivers() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                try Data(Gateway.config(to: receiver.url).utf8)
                    .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                let result = try await binary.run(
                    ["replay"], input: try mixedPayloads(), in: directory,
                    environment: ["WEBHOOK_SECRET": Gateway.secret])
                #expect(result.status == 0)
                #expect(result.errors.contains("8 delivered, 0 dead, 0 waiting"))
                let messages = await receiver.next(8)
                messages.forEach { EventRecorder.record($0.body) }
                #expect(Set(messages.map(\.id)).count == 8)
            }
        }
    }

    @Test func replayReportsFailures() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 404 }) { receiver in
                try Data(Gateway.config(to: receiver.url).utf8)
                    .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                let result = try await binary.run(
                    ["replay"], input: try mixedPayloads() + Data("oops\n".utf8), in: directory,
                    environment: ["WEBHOOK_SECRET": Gateway.secret])
                #expect(result.status == 1)
                #expect(result.errors.contains("0 delivered, 8 dead, 0 waiting"))
                #expect(result.errors.contains("8 events, 1 rejected"))
            }
        }
    }

    @Test func explainGivesReasons() async throws {
        try await withTemporaryDirectory { directory in
            let config =
                #"{ "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [ { "name": "braze-only", "match": { "data": { "vendor": ["braze"] } }, "to": ["inbox"] } ] }"#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let payload = Data(#"{"aps":{"alert":"x"},"issuer":"Synerise"}"#.utf8)
            let result = try await binary.run(["explain"], input: payload, in: directory)
            #expect(result.status == 0)
            #expect(result.output.contains("synerise: yes, proof at /issuer"))
            #expect(result.output.contains("braze: no; there is no `_ab`, `ab`"))
            #expect(result.output.contains("granify: no; no key identifies its labels; set `vendor` of a source to"))
            #expect(result.output.contains("catalogue: 9 of its 74 vendors examined, by aps"))
            let mindbox = result.output.split(separator: "\n").count { $0.contains("mindbox: no") }
            #expect(mindbox == 1, "Markers that fail for the same reason share a line.")
            #expect(result.output.contains("mindbox: no; /aps has no uniqueKey"))
            #expect(result.output.contains("Vendor: synerise."))
            #expect(result.output.contains(#"braze-only: no; /data/vendor is "synerise""#))
            #expect(result.output.contains("No route matches: the event would be stored and not delivered."))
        }
    }

    @Test func explainUsesTheVendorOfTheSource() async throws {
        try await withTemporaryDirectory { directory in
            let config =
                #"{ "sources": { "shop": { "auth": { "bearer": ["env:SHOP_TOKEN"] }, "vendor": "granify" } } }"#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let payload = Data(#"{"name":"aboveCartPageTotal","product_id":7}"#.utf8)
            let result = try await binary.run(["explain", "--source", "shop"], input: payload, in: directory)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("Vendor: granify, because the config names it for the source shop."))
            #expect(result.output.contains(#""name" : "aboveCartPageTotal""#))
        }
    }

    @Test func recognisesACustomVendorAndReportsItsErrors() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/routes.json"
            let good =
                #"{"detectors":{"custom":[{"vendor":"acme","markers":[{"strength":"signature","at":"/acme"}],"fields":{"title":"/acme/t"}}]}}"#
            try Data(good.utf8).write(to: URL(fileURLWithPath: path))
            let result = try await binary.run(
                ["normalize", "--config", path], input: Data(#"{"aps":{},"acme":{"t":"Hello"}}"#.utf8), in: directory)
            #expect(result.output.contains(#""vendor":"acme""#))
            #expect(result.output.contains(#""title":"Hello""#))
            try Data(good.replacing("/acme/t", with: "acme").utf8).write(to: URL(fileURLWithPath: path))
            let refused = try await binary.run(["routes", "check", path], in: directory)
            #expect(refused.status != 0)
            #expect(refused.errors.contains("/detectors/custom/0/fields/title: \"acme\" is not a path"))
        }
    }

    @Test func listenFailsOnDemand() async throws {
        try await withTemporaryDirectory { directory in
            let listener = try binary.start(
                ["listen", "--listen", "127.0.0.1:0", "--status", "400", "--delay", "1ms", "--json"],
                environment: ["WEBHOOK_SECRET": Gateway.secret])
            let url = try #require(await listener.listeningURL())
            try Data(Gateway.config(to: url).utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let result = try await binary.run(
                ["replay"], input: try mixedPayloads(), in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
            #expect(result.errors.contains("0 delivered, 8 dead"))
            listener.signal(SIGINT)
            #expect(await listener.end() == 130)
            #expect(try subjects(await listener.output.text()).sorted() == expected.sorted())
        }
    }

    @Test func everyExampleIsGood() async throws {
        let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples").path
        for name in try FileManager.default.contentsOfDirectory(atPath: examples + "/payloads") {
            let result = try await normalize(Data(), [examples + "/payloads/" + name])
            #expect(result.status == 0, "\(name)")
            #expect(try subjects(result.output).count == 1, "\(name)")
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: examples + "/configs") {
            let result = try await binary.run(["routes", "check", examples + "/configs/" + name])
            #expect(result.status == 0, "\(name): \(result.errors)")
        }
        let main = try await binary.run(["routes", "check", examples + "/../routes.json"])
        #expect(main.status == 0)
    }

    @Test func printsVendorsAndSchemas() async throws {
        let vendors = try await binary.run(["vendors"]).output
        for name in ["synerise", "sourse", "mce", "braze", "klaviyo"] { #expect(vendors.contains(name)) }
        #expect(try await binary.run(["vendors", "--markdown"]).output.hasPrefix("| Vendor |"))
        let detector = try await binary.run(["schema", "detector"]).output
        #expect(detector.contains("urn:signalbox:schema:detector:1"))
        #expect(try await binary.run(["schema", "inapp"]).output.contains("urn:signalbox:schema:inapp-message:1"))
        #expect(try await binary.run(["schema", "inapp-event"]).output.contains("urn:signalbox:schema:inapp:1"))
        let schema = try await binary.run(["schema", "notification"]).output
        #expect((try JSONSerialization.jsonObject(with: Data(schema.utf8)) as? [String: Any])?["$id"] != nil)
        #expect(try await binary.run(["schema", "nothing"]).status == 64)
    }

    @Test func listenRejectsOptionsThatItDoesNotUse() async throws {
        for option in ["--config", "--data-dir", "--store"] {
            let result = try await binary.run(["listen", option, "x"])
            #expect(result.status == 64 && result.errors.contains("Unknown option"), "\(result.errors)")
        }
    }
}
