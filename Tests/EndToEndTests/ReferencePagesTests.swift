import Foundation
import SignalboxNotification
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxConfig

/// Compares each generated block of docs/reference with the declarations in the code.
///
/// A block is between `<!-- NAME: begin -->` and `<!-- NAME: end -->`. `make reference` rewrites the blocks.
@Suite(.timeLimit(.minutes(15))) struct ReferencePagesTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let rewrites = ProcessInfo.processInfo.environment["SIGNALBOX_REWRITE_REFERENCE"] != nil

    private func check(_ page: String, _ block: String, _ text: String) throws {
        let url = Self.root.appendingPathComponent("docs/reference/\(page).md")
        var contents = try String(contentsOf: url, encoding: .utf8)
        let start = try #require(contents.range(of: "<!-- \(block): begin -->\n"), "\(page).md has no block \(block)")
        let end = try #require(contents.range(of: "\n<!-- \(block): end -->"), "\(page).md: the block is open")
        let body = start.upperBound..<end.lowerBound
        guard contents[body] != text else { return }
        #expect(Self.rewrites, "docs/reference/\(page).md is out of date; run make reference")
        guard Self.rewrites else { return }
        contents.replaceSubrange(body, with: text)
        try Data(contents.utf8).write(to: url)
    }

    private func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { row in
            "| " + row.map { $0.replacing("|", with: "\\|").replacing("\n", with: " ") }.joined(separator: " | ") + " |"
        }.joined(separator: "\n")
    }

    /// Matches of a pattern's first group in the Swift sources of a folder.
    private func literals(_ pattern: String, in folder: String, where isWanted: (String) -> Bool) throws -> Set<String>
    {
        let expression = try NSRegularExpression(pattern: pattern)
        let url = Self.root.appendingPathComponent(folder)
        let files = try #require(FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil))
        var found: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" && isWanted(file.lastPathComponent) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in expression.matches(in: text, range: NSRange(text.startIndex..., in: text)) {
                if let range = Range(match.range(at: 1), in: text) { found.insert(String(text[range])) }
            }
        }
        return found
    }

    // MARK: Config

    /// A section with a table for each member of the config's object. Options without an effect, such as `$schema`, are
    /// left out.
    @Test func configPageListsEveryOption() throws {
        let sections = GatewayConfig.options.infos.filter { !$0.key.hasPrefix("$") }.map { info in
            let members = rows(of: info, below: info.key + info.type.entry + ".")
            let rows = members.isEmpty ? [row(info, "")] : members
            return "## \(info.key)\n\n\(info.documentation)"
                + (info.isInParts ? " Files in `routes.d` may also contain it." : "")
                + "\n\n" + table(["option", "type", "default", "meaning"], rows)
        }
        try check("config", "options", sections.joined(separator: "\n\n"))
    }

    /// The former test compares the page with the declarations; this one says what a reader finds there.
    @Test func configPageShowsDefaultLimitsAndRequirement() throws {
        let page = try String(
            contentsOf: Self.root.appendingPathComponent("docs/reference/config.md"), encoding: .utf8)
        for row in [
            "| `destinations.NAME.url` | URL, or reference | required | ",
            "| `destinations.NAME.retry.max` | duration, 1ms to 7d | `\"6h\"` | ",
            "| `sources.NAME.auth.bearer` | array of references | required | ",
            "| `media.allowHttp` | `true` or `false` | `false` | ",
        ] { #expect(page.contains("\n" + row)) }
        #expect(!page.contains("| `fallback` | array of destinations | `[]` | "))
    }

    /// Nested options follow their object, with its path as prefix. Depth first, in the order of the declarations.
    private func rows(of info: OptionInfo, below prefix: String) -> [[String]] {
        info.type.members.flatMap { member in
            [row(member, prefix)] + rows(of: member, below: prefix + member.key + member.type.entry + ".")
        }
    }

    /// Path, type with its limits, default, and meaning. Required options have no default. An option whose default
    /// only the documentation describes has an empty cell.
    private func row(_ info: OptionInfo, _ prefix: String) -> [String] {
        let kind = info.type.kind + (info.type.limits.isEmpty ? "" : ", \(info.type.limits)")
        let value = info.isRequired ? "required" : info.defaultValue.map { "`\($0.compact)`" } ?? ""
        return ["`\(prefix)\(info.key)`", kind, value, info.documentation]
    }

    /// Editors use the file; the link `routes.schema.json` leads to it.
    @Test func schemaFileIsCurrent() throws {
        let url = Self.root.appendingPathComponent("docs/reference/routes.schema.json")
        guard try String(contentsOf: url, encoding: .utf8) != ConfigSchema.text else { return }
        #expect(Self.rewrites, "docs/reference/routes.schema.json is out of date; run make reference")
        if Self.rewrites { try Data(ConfigSchema.text.utf8).write(to: url) }
    }

    // MARK: Errors and warnings

    @Test func errorPageListsEveryCode() throws {
        let problems = ProblemDescription.payloads + ProblemDescription.requests
        let codes = problems.map(\.code)
        #expect(Set(codes).count == codes.count)
        let used = try literals(#""([a-z]+(?:-[a-z0-9]+)+)""#, in: "Sources/SignalboxServer") {
            $0.hasPrefix("Problem") || $0 == "InteractionsAPI.swift"
        }
        #expect(used.subtracting(codes).isEmpty, "codes without a description")
        let requests = Set(ProblemDescription.requests.map(\.code)).subtracting(["unauthorized"])
        #expect(requests.subtracting(used).isEmpty, "descriptions without a code")
        func rows(_ problems: [ProblemDescription]) -> String {
            table(
                ["code", "status", "meaning", "remedy"],
                problems.map { ["`\($0.code)`", "\($0.status)", $0.meaning, $0.remedy] })
        }
        try check("errors", "payloads", rows(ProblemDescription.payloads))
        try check("errors", "requests", rows(ProblemDescription.requests))
    }

    @Test func warningPageListsEveryCode() throws {
        let codes = WarningDescription.all.map(\.code)
        #expect(Set(codes).count == codes.count)
        let components = Set(codes.map { $0.prefix { $0 != "." } }).joined(separator: "|")
        let used = try literals("\"((?:\(components))\\.[a-z]+(?:-[a-z0-9]+)+)\"", in: "Sources") { _ in true }
        #expect(used.subtracting(codes).isEmpty, "codes without a description")
        let derived = codes.filter { $0.hasPrefix("VENDOR.") } + ["apns.wrong-type", "fcm.wrong-type"]
        #expect(Set(codes).subtracting(used).subtracting(derived).isEmpty, "descriptions without a code")
        // Including those of components that the page does not have yet.
        let written = try literals(#"(?:warn|Warning)\(\s*"([a-z][a-z0-9-]*\.[a-z][a-z0-9-]*)""#, in: "Sources") { _ in
            true
        }
        #expect(!written.isEmpty && written.subtracting(codes).isEmpty, "codes without a description")
        let suffixes = try literals(#"(?:\bcode\(|(?:vendor\.name|component) \+ )"\.?([a-z][a-z-]+)""#, in: "Sources") {
            _ in
            true
        }
        #expect(!suffixes.isEmpty && Set(suffixes.map { "VENDOR." + $0 }).subtracting(codes).isEmpty)
        try check(
            "warnings", "warnings",
            table(["code", "meaning"], WarningDescription.all.map { ["`\($0.code)`", $0.meaning] }))
    }

    /// Levels and messages of log calls with a literal message.
    @Test func logPageListsEveryMessage() throws {
        let levels = ["critical", "error", "warning", "notice"]
        let rows = try levels.flatMap { level in
            try literals("log(?:ger)?\\.\(level)\\(\\s*\"([^\"\\\\]+)\"", in: "Sources") { _ in true }
                .sorted().map { [level, $0] }
        }
        try check("log", "messages", table(["level", "message"], rows))
    }

    // MARK: HTTP

    @Test func endpointPageListsEveryEndpoint() throws {
        try check(
            "http", "endpoints",
            table(
                ["methods", "path", "query parameters", "credential", "purpose"],
                Endpoint.all.map { endpoint in
                    [
                        endpoint.allow, "`\(endpoint.path)`",
                        endpoint.parameters.map { "`\($0.name)`" }.joined(separator: ", "), endpoint.access.words,
                        endpoint.purpose,
                    ]
                }))
    }

    @Test func metricPageListsEveryMetric() throws {
        try check(
            "metrics", "metrics",
            table(
                ["metric", "type", "labels", "meaning"],
                Metric.all.map { metric in
                    [
                        "`\(metric.name)`", metric.kind.word, metric.labels.map { "`\($0)`" }.joined(separator: ", "),
                        metric.help,
                    ]
                }))
    }

    // MARK: Command line

    private struct CommandHelp: Decodable {
        struct Root: Decodable { let command: CommandHelp }
        struct Argument: Decodable {
            struct Name: Decodable { let kind, name: String }
            let kind: String
            let names: [Name]?
            let valueName, abstract, defaultValue: String?
            let isOptional, isRepeating, shouldDisplay: Bool
        }
        let commandName: String
        let abstract, discussion: String?
        let arguments: [Argument]?
        let subcommands: [CommandHelp]?
    }

    @Test func commandPageShowsEveryCommand() async throws {
        let help = try await binary.run(["--experimental-dump-help"]).output
        let root = try JSONDecoder().decode(CommandHelp.Root.self, from: Data(help.utf8)).command
        try check(
            "cli", "commands", (root.subcommands ?? []).flatMap { sections($0, within: root.commandName) }.joined())
    }

    /// Options that nearly every command has; the page describes them once.
    private static let common: Set<String> = [
        "config", "data-dir", "store", "log-level", "log-format", "version", "help",
    ]

    private func sections(_ command: CommandHelp, within parent: String) -> [String] {
        guard command.commandName != "help" else { return [] }
        let name = "\(parent) \(command.commandName)"
        if let subcommands = command.subcommands, !subcommands.isEmpty {
            return subcommands.flatMap { sections($0, within: name) }
        }
        let shown = (command.arguments ?? []).filter(\.shouldDisplay)
        let positional = shown.filter { $0.kind == "positional" }
        let own = shown.filter { $0.kind != "positional" && !Self.common.contains($0.valueName ?? "") }
        let usage =
            positional.map { argument in
                let name = "<\(argument.valueName ?? "")>" + (argument.isRepeating ? "…" : "")
                return argument.isOptional ? "[\(name)]" : name
            } + (own.isEmpty ? [] : ["[options]"])
        let synopsis = ([name] + usage).joined(separator: " ")
        var text = "\n### \(name)\n\n```\n\(synopsis)\n```\n\n\(command.abstract ?? "")\n"
        if let discussion = command.discussion, !discussion.isEmpty { text += "\n\(discussion)\n" }
        let rows = (positional + own).map { argument in
            let value = argument.kind == "option" ? " <\(argument.valueName ?? "")>" : ""
            let names = (argument.names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name }
            let spelled = names.isEmpty ? "<\(argument.valueName ?? "")>" : names.joined(separator: ", ") + value
            let standard = argument.defaultValue.map { " (default: \($0))" } ?? ""
            return ["`\(spelled)`", (argument.abstract ?? "") + standard]
        }
        if !rows.isEmpty { text += "\n\(table(["argument", "meaning"], rows))\n" }
        return [text]
    }

    // MARK: Events

    @Test(arguments: ["notification", "interaction", "inapp-event", "push"])
    func eventPageListsEveryMember(_ name: String) async throws {
        let text = try await binary.run(["schema", name]).output
        let schema = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let definitions = schema["$defs"] as? [String: Any] ?? [:]
        try check("events", name, table(["member", "type", "meaning"], rows(schema, at: "", definitions)))
    }

    /// A row for each member of an object schema, members of members included, in alphabetical order.
    private func rows(_ schema: [String: Any], at path: String, _ definitions: [String: Any]) -> [[String]] {
        let members = schema["properties"] as? [String: [String: Any]] ?? [:]
        let required = Set(schema["required"] as? [String] ?? [])
        return members.sorted { $0.key < $1.key }.flatMap { name, member -> [[String]] in
            let resolved = resolve(member, definitions)
            var (type, inner) = (resolved["type"] as? String ?? "any", resolved)
            var location = path + name
            if type == "array", let items = resolved["items"] as? [String: Any] {
                inner = resolve(items, definitions)
                type = "array of \(inner["type"] as? String ?? "any")"
                location += "[]"
            }
            if let values = inner["enum"] as? [String] {
                type += ": " + values.map { "`\($0)`" }.joined(separator: ", ")
            }
            if let value = inner["const"] as? String { type = "`\(value)`" }
            let mark = required.contains(name) ? "" : "?"
            let meaning = member["description"] as? String ?? resolved["description"] as? String ?? ""
            return [["`\(path)\(name)\(mark)`", type, meaning]] + rows(inner, at: location + ".", definitions)
        }
    }

    private func resolve(_ schema: [String: Any], _ definitions: [String: Any]) -> [String: Any] {
        guard let reference = schema["$ref"] as? String else { return schema }
        let name = String(reference.split(separator: "/").last ?? "")
        return definitions[name] as? [String: Any] ?? schema
    }

    // MARK: Vendors

    @Test func vendorPageListsEveryVendor() throws {
        try check("vendors", "vendors", Vendors.markdown)
    }
}
