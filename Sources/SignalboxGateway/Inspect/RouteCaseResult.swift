package import Foundation
package import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
package import SignalboxRouting

/// The result of one case of `routes test`: passed, or how the routes differ from the expected ones. A payload that
/// the gateway would reject fails its case. The expected routes are compared as a list, the destinations as a set.
package struct RouteCaseResult {
    private let item: RouteCase
    private let outcome: Result<RouteTrial, Rejection>

    /// Routes the payload of a case. Throws if its file cannot be read. `folder`: the folder of the file of cases, for
    /// relative paths. `now`: the arrival of payloads whose case has no time. Reads the file at once, up to the first
    /// byte beyond ``Normalizer/payloadLimit``: the normalizer rejects a larger payload.
    package init(
        running item: RouteCase, from folder: String, by trials: RouteTrials, at now: Date
    ) throws(UnreadableFile) {
        let input: [UInt8]
        switch item.input {
        case .text(let text): input = text.bytes
        case .file(let path, _):
            let whole = path.hasPrefix("/") || folder.isEmpty ? path : folder + "/" + path
            input = try ConfigText.contents(of: whole, upTo: Normalizer.payloadLimit + 1)
        }
        self.item = item
        outcome = Result { () throws(Rejection) in
            try trials.trial(of: input, from: item.source, at: item.time ?? now)
        }
    }

    /// True if the expected routes matched in their order, and the destinations are the expected ones. A case that
    /// names no destinations accepts any. False for a payload that the gateway would reject, even if the case expects
    /// no route.
    package var passed: Bool {
        guard case .success(let trial) = outcome else { return false }
        return trial.taken == item.routes && destinations(trial).isEmpty
    }

    /// One line, followed by the differences; each line has its line end. `hasColor`: adds ANSI escape sequences, green
    /// for a passed case and for `+`, red for a failed case and for `-`.
    package func text(hasColor: Bool) -> String {
        func colored(_ text: String, _ code: Int) -> String { hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
        guard !passed else { return colored("ok  ", 32) + "  \(item.name)\n" }
        var text = colored("FAIL", 31) + "  \(item.name)\n"
        switch outcome {
        case .failure(let rejection): text += "        payload rejected: \(rejection.message)\n"
        case .success(let trial):
            for line in lines(trial) { text += "      \(colored(line, line.hasPrefix("-") ? 31 : 32))\n" }
        }
        return text
    }

    /// Expected routes and destinations that are missing start with `-`, unexpected ones with `+`. A route that
    /// matched in another order than expected appears in two lines with the whole order. Empty for a case that
    /// passed.
    private func lines(_ trial: RouteTrial) -> [String] {
        var lines: [String] = []
        let missing = item.routes.filter { !trial.taken.contains($0) }
        let further = trial.taken.filter { !item.routes.contains($0) }
        for name in missing {
            let verdict = trial.routes.first { $0.name == name }?.verdict
            lines.append("- route \(name): \(verdict?.words ?? "no such route")")
        }
        for name in further { lines.append("+ route \(name)") }
        if missing.isEmpty, further.isEmpty, trial.taken != item.routes {
            lines.append("- routes in this order: \(item.routes.joined(separator: ", "))")
            lines.append("+ routes in this order: \(trial.taken.joined(separator: ", "))")
        }
        return lines + destinations(trial)
    }

    /// Empty if the case names no destinations or they are the expected ones.
    private func destinations(_ trial: RouteTrial) -> [String] {
        guard let expected = item.destinations else { return [] }
        let found = trial.destinations.map(\.name)
        return expected.filter { !found.contains($0) }.map { "- destination \($0)" }
            + found.filter { !expected.contains($0) }.map { "+ destination \($0)" }
    }

    // MARK: JSON

    /// One object for the whole file of cases, `{"cases": […], "passed": 1, "failed": 0}`, without a line end. The
    /// results keep their order. A case that failed has `differences`, the lines of ``text(hasColor:)``; a rejected
    /// payload has the code and the message of the rejection.
    package static func json(_ results: [RouteCaseResult]) -> [UInt8] {
        .jsonObject { json in
            json.array("cases", of: results) { $1.write(into: &$0) }
            let passed = results.count { $0.passed }
            json.member("passed", passed)
            json.member("failed", results.count - passed)
        }
    }

    /// Writes one object of the list. `routes` and `destinations` are the actual ones; `expected` has the routes of
    /// the case.
    private func write(into json: inout JSONWriter) {
        json.beginObject()
        json.member("name", item.name)
        json.member("passed", passed)
        json.array("expected", of: item.routes) { $0.string($1) }
        switch outcome {
        case .failure(let rejection):
            json.member("code", rejection.code.rawValue)
            json.member("message", rejection.message)
        case .success(let trial):
            json.array("routes", of: trial.taken) { $0.string($1) }
            json.array("destinations", of: trial.destinations) { $0.string($1.name) }
            if !passed { json.array("differences", of: lines(trial)) { $0.string($1) } }
        }
        json.endObject()
    }
}
