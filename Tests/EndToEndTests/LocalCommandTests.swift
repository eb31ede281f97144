import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Commands that need no running gateway, and conditions of those that read the queue.
@Suite(.timeLimit(.minutes(15))) struct LocalCommandTests {
    @Test func initWritesAConfigThatServes() async throws {
        try await withTemporaryDirectory { directory in
            let written = try await binary.run(["init"], in: directory)
            #expect(written.status == 0)
            #expect(written.output == "routes.json written. Start the gateway with: signalbox serve\n")
            let check = try await binary.run(["routes", "check", "--strict"], in: directory)
            #expect(check.status == 0, "\(check.errors)")
            let again = try await binary.run(["init"], in: directory)
            #expect(again.status == 2)
            #expect(again.errors.contains("routes.json already exists and was not changed."), "\(again.errors)")
            let gateway = try await Gateway.start(in: directory)
            #expect(try await binary.run(["send", "braze", "--url", gateway.url]).status == 0)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func initNamesTheReasonForAFileThatCannotBeWritten() async throws {
        try await withTemporaryDirectory { directory in
            let shell = #"trap "" XFSZ; ulimit -f 1; exec "$0" "$@""#
            let result = try await binary.run(["init"], in: directory, behind: ["sh", "-c", shell])
            #expect(result.status == 2)
            #expect(result.errors == "signalbox: Cannot write routes.json: File too large.\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completionsAreThoseOfTheParser(_ shell: String) async throws {
        let printed = try await binary.run(["completion", shell])
        #expect(printed.status == 0 && printed.output.contains("signalbox"))
        let generated = try await binary.run(["--generate-completion-script", shell])
        #expect(printed.output == generated.output)
    }

    @Test func configShowNamesOriginsAndHidesSecrets() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"{"destinations":{"crm":{"url":"https://crm.example.com/x?key=abc","secret":"env:CRM"}}}"#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let text = try await binary.run(
                ["config", "show", "--data-dir", "d"], in: directory, environment: ["SIGNALBOX_LISTEN": "127.0.0.1:9"])
            #expect(text.status == 0, "\(text.errors)")
            let lines = text.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
            for line in [
                "data-dir flag d", "listen environment 127.0.0.1:9", "log-level default notice",
                "/destinations/crm/secret routes.json \"env:CRM\"",
            ] { #expect(lines.contains(line), "\(line)") }
            #expect(!text.output.contains("abc"))
            let json = try await binary.run(["config", "show", "--json"], in: directory).output
            let root = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            #expect(root?["settings"] != nil && root?["values"] != nil)
            try Data(config.replacing("crm\":", with: "c rm\":").utf8).write(
                to: URL(fileURLWithPath: directory + "/routes.json"))
            #expect(try await binary.run(["config", "show"], in: directory).status == 2)
        }
    }

    /// A new authority in place of one that cannot be read would not be trusted by its senders.
    @Test func certsKeepsAnAuthorityThatCannotBeRead() async throws {
        try await withTemporaryDirectory { directory in
            let files = FileManager.default
            try files.createDirectory(atPath: directory + "/certs", withIntermediateDirectories: true)
            for name in ["ca.crt", "ca.key"] {
                try files.createSymbolicLink(atPath: directory + "/certs/" + name, withDestinationPath: name)
            }
            let result = try await binary.run(["certs", "new"], in: directory)
            #expect(result.status == 2)
            let reason = "certs/ca.crt: Too many levels of symbolic links"
            #expect(result.errors.hasPrefix("signalbox: Cannot read \(reason)."), "\(result.errors)")
            #expect(try files.contentsOfDirectory(atPath: directory + "/certs").sorted() == ["ca.crt", "ca.key"])
        }
    }

    @Test func certsNamesTheReasonForADirectoryThatCannotBeMade() async throws {
        let result = try await binary.run(["certs", "new", "--directory", "/proc/certs"], in: NSTemporaryDirectory())
        #expect(result.status == 2)
        let reason = "No such file or directory. Correct that, or choose another --directory."
        #expect(result.errors == "signalbox: Cannot create the directory /proc/certs: \(reason)\n")
    }

    /// The shell leaves the draft of a former process with the same number.
    @Test func certsIgnoresTheUmask() async throws {
        try await withTemporaryDirectory { directory in
            let shell = #"umask 077; mkdir certs; echo old > certs/.ca.key.$$; exec "$0" "$@""#
            let result = try await binary.run(["certs", "new"], in: directory, behind: ["sh", "-c", shell])
            #expect(result.status == 0, "\(result.errors)")
            for (name, mode) in [("ca.crt", 0o644), ("ca.key", 0o600), ("server.crt", 0o644), ("server.key", 0o600)] {
                let values = try FileManager.default.attributesOfItem(atPath: directory + "/certs/" + name)
                #expect(values[.posixPermissions] as? Int == mode, "\(name)")
            }
        }
    }

    /// A list without rows would look like an empty queue.
    @Test(arguments: [["events", "list"], ["deliveries", "list"], ["media", "list"], ["tail"]], ["0", "-5"])
    func aListHasALimitOfAtLeastOne(_ command: [String], _ limit: String) async throws {
        let result = try await binary.run(command + ["--limit=\(limit)"], in: NSTemporaryDirectory())
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("Invalid --limit \(limit): use 1 or more."), "\(result.errors)")
    }

    @Test func unknownCommandsSuggest() async throws {
        let unknown = try await binary.run(["evnts", "list"])
        #expect(unknown.status == 64)
        #expect(unknown.errors == "signalbox: Unknown command \"evnts\". Did you mean \"events\"?\n")
        let member = try await binary.run(["deliveries", "retri", "1"])
        #expect(member.status == 64)
        #expect(member.errors.contains("Did you mean \"deliveries retry\"?"), "\(member.errors)")
        #expect(try await binary.run(["help", "events"]).status == 0)
        let help = try await binary.run(["events", "help"])
        #expect(help.status == 64 && help.errors.contains("Did you mean \"help events\"?"), "\(help.errors)")
        #expect(try await binary.run(["schema", "x"]).errors.contains("Usage: signalbox schema <name>"))
    }

    @Test func everyCommandWithAResultPrintsItAsJSON() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let payload = Data(#"{"aps":{"alert":"x"}}"#.utf8)
            #expect(try await binary.run(["replay"], input: payload, in: directory).status == 0)
            for command in [
                "vendors", "keys new --ed25519", "routes check", "destinations list", "destinations pause inbox",
                "destinations resume inbox", "destinations ping inbox", "deliveries list", "deliveries show 1",
                "events list", "audit", "config show", "send --list",
            ] {
                let arguments = command.split(separator: " ").map(String.init) + ["--json"]
                let result = try await binary.run(arguments, in: directory)
                #expect(result.status == 0, "\(command): \(result.errors)")
                let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("{") }
                #expect(!lines.isEmpty, "\(command): \(result.output)")
                for line in lines {
                    let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
                    #expect(object is [String: Any], "\(command)")
                }
            }
        }
    }

    /// Two dead deliveries of different vendors.
    private func withDeadLetters(
        _ body:
            @escaping @Sendable (_ run: @escaping @Sendable ([String]) async throws -> BuiltBinary.Result) async throws
            -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 400 }) { receiver in
                try Data(Gateway.config(to: receiver.url).utf8).write(
                    to: URL(fileURLWithPath: directory + "/routes.json"))
                let payloads = #"{"aps":{"alert":"x"},"issuer":"Synerise"}"# + "\n" + #"{"aps":{"alert":"y"}}"#
                let replayed = try await binary.run(
                    ["replay"], input: Data(payloads.utf8), in: directory,
                    environment: ["WEBHOOK_SECRET": Gateway.secret])
                #expect(replayed.errors.contains("0 delivered, 2 dead"), "\(replayed.errors)")
                try await body { try await binary.run($0, in: directory) }
            }
        }
    }

    @Test func conditionsSelectDeliveries() async throws {
        try await withDeadLetters { run in
            func count(_ conditions: [String]) async throws -> Int {
                let result = try await run(["deliveries", "list", "--json"] + conditions)
                #expect(result.status == 0, "\(conditions): \(result.errors)")
                return result.output.split(separator: "\n").count
            }
            let expected: [([String], Int)] = [
                ([], 2), (["--vendor", "synerise"], 1), (["--status", "4xx", "--since", "1h"], 2),
                (["--status", "503"], 0), (["--until", "1h"], 0), (["--error", "timeout-reply"], 0),
            ]
            for (conditions, deliveries) in expected {
                let found = try await count(conditions)
                #expect(found == deliveries, "\(conditions)")
            }
        }
    }

    @Test func mistypedNamesAreErrors() async throws {
        try await withDeadLetters { run in
            let destination = try await run(["deliveries", "list", "--destination", "crn"])
            #expect(destination.status == 2)
            #expect(destination.errors == "signalbox: Unknown destination \"crn\". Did you mean \"crm\"?\n")
            let vendor = try await run(["events", "list", "--vendor", "synerize"])
            #expect(vendor.status == 2)
            #expect(vendor.errors == "signalbox: Unknown vendor \"synerize\". Did you mean \"synerise\"?\n")
            let kind = try await run(["events", "list", "--kind", "slient"])
            #expect(kind.status == 2 && kind.errors.contains("Did you mean \"silent\"?"), "\(kind.errors)")
            #expect(try await run(["events", "list", "--vendor", "destination", "--kind", "crm"]).status == 0)
            #expect(try await run(["deliveries", "retry", "--dead", "--vendor", "synerize"]).status == 2)
            #expect(try await run(["deliveries", "purge", "--state", "dead", "--destination", "crn"]).status == 2)
            let event = try await run(["deliveries", "retry", "--event", "0193"])
            #expect(event.status == 2)
            #expect(event.errors.hasPrefix("signalbox: There is no event 0193. "), "\(event.errors)")
            let pause = try await run(["destinations", "pause", "crn"])
            #expect(pause.status == 2 && pause.errors.contains("Did you mean \"crm\"?"), "\(pause.errors)")
            #expect(try await run(["destinations", "pause", "crm", "--until", "soon"]).status == 64)
        }
    }

    @Test func numbersThatAreNotChangedAreNamed() async throws {
        try await withDeadLetters { run in
            for options in [["--dry-run"], []] {
                let partly = try await run(["deliveries", "retry", "1", "99", "98"] + options)
                #expect(partly.status == 1)
                #expect(partly.errors == "signalbox: Not requeued: 98, 99 (unknown).\n")
                #expect(partly.output.hasPrefix("1 delivery "), "\(partly.output)")
            }
            let excluded = try await run(["deliveries", "purge", "2", "--state", "delivered"])
            #expect(excluded.errors == "signalbox: Not removed: 2 (excluded by the conditions).\n")
            let all = try await run(["deliveries", "retry", "--destination", "crm"])
            #expect(all.output == "1 delivery requeued\n", "\(all.errors)")
            let mistyped = try await run(["deliveries", "retry", "--destination", "crn"])
            #expect(mistyped.status == 2 && mistyped.errors.contains("Did you mean \"crm\"?"), "\(mistyped.errors)")
        }
    }

    @Test(arguments: [
        (["events", "list", "--since", "tomorrow"], "Invalid time \"tomorrow\""),
        (["deliveries", "list", "--since", "tomorrow"], "Invalid --since tomorrow"),
        (["events", "list", "--since", "1h", "--until", "2h"], "so they select nothing."),
        (["deliveries", "purge", "1", "--older-than", "2h", "--since", "1h"], "--since is not before --older-than"),
        (["deliveries", "list", "--error", "timeout-rply"], "Did you mean \"timeout-reply\"?"),
        (["deliveries", "retry", "--state", "delivered"], "only dead and waiting deliveries can be requeued."),
        (["deliveries", "retry", "1", "--state", "expired", "--dry-run"], "Invalid --state expired: only dead and"),
        (["tail", "--types", "foo"], "Invalid --types foo: write some of event,"),
        (["schema", "notifcation"], "Unknown schema \"notifcation\". Did you mean \"notification\"?"),
        (["help", "sned"], "Unknown command \"sned\". Did you mean \"send\"?"),
        (["help", "events", "shwo"], "Unknown command \"events shwo\". Did you mean \"events show\"?"),
    ])
    func invalidValuesAreWrongUsage(_ arguments: [String], _ sentence: String) async throws {
        let result = try await binary.run(arguments, in: NSTemporaryDirectory())
        #expect(result.status == 64, "\(arguments)")
        #expect(result.errors.contains(sentence), "\(result.errors)")
    }

    @Test func aFilterThatNoEventMeetsIsAWarning() async throws {
        try await withDeadLetters { run in
            let filter = #"{"dta":{"vendor":["mce"]}}"#
            let list = try await run(["events", "list", "--filter", filter])
            #expect(list.status == 0)
            let warning = "signalbox: Warning: --filter 1:2: /dta: no event has the field /dta; did you mean \"data\"?"
            #expect(list.errors.hasPrefix(warning), "\(list.errors)")
        }
    }

    @Test func dryRunsLeaveTheQueueUnchanged() async throws {
        try await withDeadLetters { run in
            let retry = try await run(["deliveries", "retry", "--vendor", "synerise", "--dry-run"])
            #expect(retry.status == 0)
            #expect(retry.output.hasPrefix("1 delivery would be requeued, accepted at 20"), "\(retry.output)")
            #expect(retry.output.contains("\n  crm: 1\n"))
            let purge = try await run(["deliveries", "purge", "--state", "dead", "--dry-run", "--json"])
            #expect(purge.output.hasPrefix(#"{"count":2,"oldest":"20"#), "\(purge.output)")
            #expect(purge.output.contains(#""byDestination":{"crm":2}"#))
            #expect(try await run(["deliveries", "list", "--state", "dead", "--json"]).output.contains("\n"))
            let done = try await run(["deliveries", "retry", "--vendor", "synerise"])
            #expect(done.output == "1 delivery requeued\n", "\(done.errors)")
            let json = try await run(["deliveries", "purge", "--state", "dead", "--json", "--yes"])
            #expect(json.output == "{\"count\":1}\n", "\(json.errors)")
        }
    }

    @Test func eventsShowTellsWhyADestinationDidNotReceiveAnEvent() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" }, "log": { "builtin": "inbox" } },
                  "routes": [ { "name": "braze-only", "match": { "data": { "vendor": ["braze"] } }, "to": ["inbox"] },
                              { "name": "rest", "match": {}, "to": ["log"] } ] }
                """#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let payload = Data(#"{"aps":{"alert":"x"},"issuer":"Synerise"}"#.utf8)
            #expect(try await binary.run(["replay"], input: payload, in: directory).status == 0)
            let list = try await binary.run(["events", "list", "--json"], in: directory).output
            let event = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [String: Any]
            let id = try #require(event?["id"] as? String)
            let missing = try await binary.run(["events", "show", id, "--destination", "inbox"], in: directory)
            #expect(missing.output.hasPrefix("The event did not reach inbox: it has no delivery there.\n"))
            #expect(missing.output.contains(#"route braze-only: no; /data/vendor is "synerise""#), "\(missing.output)")
            let reached = try await binary.run(["events", "show", id, "--destination", "log"], in: directory)
            #expect(reached.output.hasPrefix("The event reached log.\n"), "\(reached.output)")
            let json = try await binary.run(["events", "show", id, "--destination", "inbox", "--json"], in: directory)
            #expect(json.output.hasPrefix(#"{"event":"\#(id)","destination":"inbox","answer":"The event did not"#))
            #expect(json.output.contains(#""routes":[{"name":"braze-only","taken":false,"reason":"no; "#))
            let log = try await binary.run(["events", "show", id, "--destination", "log", "--json"], in: directory)
            #expect(log.output.contains(#""answer":"The event reached log.","deliveries":[{"id":"#), "\(log.output)")
            let unknown = try await binary.run(["events", "show", id, "--destination", "inbix"], in: directory)
            #expect(unknown.status == 2 && unknown.errors.contains("Did you mean \"inbox\"?"))
        }
    }
}
