import HTTPTypes
import Hummingbird
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// The failure rules of provider endpoints, for operators and tests. Rules of the API live in memory, and come before
/// those of the config.
struct FailuresAPI: Sendable {
    /// Shared by all configs.
    let rules: FailureRules
    /// Hashes the tokens of rules.
    let tokens: TokenHash

    /// The largest body of a rule, in bytes.
    static let bodyLimit = 256 * 1024

    /// All rules in the order of evaluation, with their counters. Values of patterns are hidden from an operator who
    /// may not read content.
    func list(_ call: Call) -> Response {
        .json { json in
            json.array("failures", of: rules.entries) { json, entry in
                json.object { $0.members(of: entry, hidesContent: call.hidesContent) }
            }
        }
    }

    /// 201 for a new rule, 200 for a replaced one. Throws 400 for a rule with mistakes, 409 for one too many,
    /// and ``Problem/contentHidden`` for a pattern of an operator who may not read content.
    func put(_ call: Call, _ body: [UInt8]) throws(Problem) -> Response {
        let name = try Self.name(in: call)
        let selector: FailureSelector
        do throws(InvalidConfig) {
            selector = try FailureSelector(text: body, named: name)
        } catch {
            throw Problem(error)
        }
        // The counters of the rule would reveal which pushes match.
        guard selector.pattern == nil || !call.hidesContent else { throw .contentHidden }
        guard let isNew = rules.put(PreparedFailure(selector, hashedBy: tokens)) else { throw .tooManyFailures }
        return .json(isNew ? .created : .ok) { json in
            guard let entry = rules.entries.first(where: { $0.isFromAPI && $0.rule.name == name }) else { return }
            json.members(of: entry, hidesContent: call.hidesContent)
        }
    }

    /// The name of a rule in the path. Throws 400 for text that is not a name.
    static func name(in call: Call) throws(Problem) -> String {
        let name = call.path("name")
        guard NameRule.allows(name) else { throw .failureMalformed("", "\"\(name)\" is not a name: \(NameRule.words)") }
        return name
    }

    /// Throws 404 for a name that no rule of the API has. Returns the rules that remain. Rules of the config cannot be
    /// removed here.
    func remove(_ call: Call) throws(Problem) -> Response {
        let name = call.path("name")
        guard rules.remove(name) else { throw .noFailure(name) }
        return list(call)
    }

    /// Sets all counters to 0. A rule for the first pushes applies again. Returns all rules.
    func reset(_ call: Call) -> Response {
        rules.reset()
        return list(call)
    }
}

extension JSONWriter {
    /// A rule in the form of the config, with its counters. Tokens are hashed. `selected` and `taken` count since the
    /// rule was set or reset.
    fileprivate mutating func members(of entry: FailureDecider.Entry, hidesContent: Bool) {
        let rule = entry.rule
        member("name", rule.name)
        member("origin", entry.isFromAPI ? "api" : "config")
        member("selected", entry.selected)
        member("taken", entry.taken)
        member("source", rule.source?.name)
        member("platform", rule.platform?.rawValue)
        member("run", rule.run)
        if !entry.prepared.tokens.isEmpty { member("token", entry.prepared.tokens.sorted()) }
        if let match = rule.match, hidesContent {
            member("match", raw: ContentMask.configValue(match.string, at: "/match"))
        } else {
            member("match", rule.match)
        }
        for (name, value) in [("every", rule.every), ("first", rule.first)] {
            guard let value else { continue }
            key(name)
            integer(value)
        }
        if rule.after > 0 { member("after", rule.after) }
        if let answer = rule.answer {
            object("answer") { json in
                json.member("reason", answer.reason?.word)
                if let status = answer.status { json.member("status", status) }
                json.member("timestamp", answer.timestamp?.text)
                json.member("retryAfter", answer.retryAfter?.text)
            }
        }
        member("delay", rule.delay?.text)
        member("connection", rule.connection?.rawValue)
    }
}
