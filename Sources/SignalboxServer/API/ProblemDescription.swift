internal import CResources
import SignalboxJSON

/// An error code of the HTTP API, as docs/reference/errors.md lists it. Codes are stable; a test compares the list in
/// `problems.json` with the codes in the sources.
package struct ProblemDescription: Sendable {
    /// The member `code` of the problem.
    package let code: String
    /// The status of the response that carries it.
    package let status: Int
    /// The cause, and the remedy for the client or operator: a sentence or two each, in Markdown.
    package let meaning, remedy: String

    /// Codes of a payload. `normalize` and `replay` report these too. The statuses apply to a request with one
    /// payload; in a batch they are those of the item.
    package static let payloads = read("payloads")
    /// Every other code. In the order of the reference page.
    package static let requests = read("requests")

    /// Reads a list of `problems.json`. Traps for an incomplete description, which a test would show.
    private static func read(_ list: StaticString) -> [ProblemDescription] {
        JSONParser.read(embedded: sb_problems_json()) { root in
            root[list]?.members.map { code, problem in
                guard let status = problem["status"]?.integer, let meaning = problem["meaning"]?.string,
                    let remedy = problem["remedy"]?.string
                else { preconditionFailure("A description in problems.json is incomplete.") }
                return ProblemDescription(
                    code: String(decoding: code, as: UTF8.self), status: Int(status), meaning: meaning, remedy: remedy)
            } ?? []
        }
    }
}
