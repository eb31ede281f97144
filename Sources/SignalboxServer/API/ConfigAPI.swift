import Dispatch
import Foundation
import Hummingbird
import SignalboxConfig
package import SignalboxGateway
package import SignalboxJSON
import SignalboxNotification
import SignalboxStore
import Synchronization

/// Checks of config texts, and the last configs. A value of one config.
struct ConfigAPI: Sendable {
    /// Shared by all configs.
    let history: ConfigHistory
    /// The folder with further files of the active config.
    let folder: String?
    /// Schedules the deadlines of requests.
    var delayed = DelayedCall.onQueue

    /// The largest text in bytes.
    static let bodyLimit = 1024 * 1024
    /// Reads files that a config names, which may block.
    private static let queue = DispatchQueue(label: "signalbox.config-check")
    /// One check at a time in the whole process. Stays true while a check waits for a file, even after its request has
    /// ended.
    private static let isBusy = Mutex(false)

    /// The diagnostics of `signalbox routes check` for the text of the body, with the files of `routes.d`. 200 for a
    /// text with mistakes too. Throws 400 for an empty body, and 503 while another check runs or files do not answer. A
    /// check that takes longer than ``StoreLimits/patience`` continues, and its result is dropped.
    func check(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        guard !body.isEmpty else { throw .empty }
        guard
            Self.isBusy.withLock({ !exchange(&$0, with: true) })
        else { throw .checkBusy }
        let folder = folder
        let result = await delayed.result(within: StoreLimits.patience) {
            await Self.queue.run {
                // Before the answer: a client that has received it may send the next check.
                defer { Self.isBusy.withLock { $0 = false } }
                return Result { () throws(ConfigRefusal) in
                    try ConfigCheck(body, named: "routes.json", folder: folder)
                }
            }
        }
        switch result {
        case .success(let check)?: return .json { $0.members(of: check, hidesContent: call.hidesContent) }
        case .failure(let refusal)?: throw .configUnreadable(refusal, hidesPath: call.hidesContent)
        case nil: throw .checkBusy
        }
    }

    /// The newest first. An operator who may not read content sees which values changed, without paths and patterns.
    func list(_ call: Call) -> Response {
        let (entries, active) = (history.entries, history.activeDigest)
        return .json { json in
            json.array("history", of: entries) { json, entry in
                json.object { $0.members(of: entry, active: active, hidesContent: call.hidesContent) }
            }
        }
    }
}

extension JSONWriter {
    /// The members of the result of a check: the mistakes with their positions, and the counts of a valid config.
    /// `hidesContent`: leaves out the messages about files other than the text that the operator sent.
    package mutating func members(of check: ConfigCheck, hidesContent: Bool) {
        member("valid", check.config != nil)
        member("errors", check.mistakes.count { $0.severity == .error })
        member("warnings", check.mistakes.count { $0.severity == .warning })
        objects("problems", of: check.mistakes) { json, mistake in
            json.member("severity", mistake.severity.rawValue)
            let isHidden = hidesContent && mistake.file > 0
            json.member("file", isHidden ? ContentMask.hidden : check.files[mistake.file].name)
            if let position = mistake.position {
                json.member("line", position.line)
                json.member("column", position.column)
            }
            json.member("pointer", mistake.pointer)
            json.member("message", isHidden ? ContentMask.hidden : mistake.problem)
            if !isHidden { json.member("hint", mistake.hint) }
        }
        guard let config = check.config else { return }
        member("routes", config.routes.count)
        member("destinations", config.destinations.count)
        member("sources", config.sources.count)
    }

    /// `result` is `active` for the present config, `replaced` for a former one and `refused` for one that never was
    /// active. `more` counts changes beyond those that the list has.
    fileprivate mutating func members(of entry: ConfigHistory.Entry, active: String?, hidesContent: Bool) {
        member("digest", entry.digest)
        member("at", entry.at)
        member("result", entry.isRefused ? "refused" : entry.digest == active ? "active" : "replaced")
        if entry.isRefused {
            member("problems", hidesContent ? entry.problems.map { _ in ContentMask.hidden } : entry.problems)
        }
        objects("changes", of: entry.diff?.changes ?? []) { json, change in
            json.member("pointer", change.pointer)
            json.member("change", change.from == nil ? "added" : change.to == nil ? "removed" : "changed")
            for (name, text) in [("from" as StaticString, change.from), ("to", change.to)] {
                guard let text else { continue }
                json.key(name)
                if hidesContent {
                    json.raw(ContentMask.configValue(text, at: change.pointer))
                } else {
                    json.value(text)
                }
            }
        }
        member("more", entry.diff?.more ?? 0)
    }

    /// JSON text as a value. A value that was cut is a string.
    private mutating func value(_ text: String) {
        let isWhole = JSONParser.read(Array(text.utf8)) { _ in true } ?? false
        if isWhole { raw(Array(text.utf8)) } else { string(text) }
    }
}
