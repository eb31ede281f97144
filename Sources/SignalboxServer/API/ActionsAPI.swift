import Hummingbird
import Logging
import SignalboxJSON
import SignalboxNotification
import SignalboxStore
import Synchronization

/// The log of changes by operators, with those that were refused.
struct ActionsAPI: Sendable {
    let queue: any ActionStore
    /// Shared by all configs.
    let refusals: RefusalBudget
    /// Schedules the deadlines of requests.
    let delayed: DelayedCall

    /// In cursors of actions.
    private static let list: StaticString = "a"

    /// Newest first, 50 by default. Throws 400 for an invalid query, and 503 when the queue does not answer. `complete`
    /// is false for a page that ended because too few of the examined rows met the conditions; `next` continues.
    func list(_ call: Call) async throws(Problem) -> Response {
        var filter = ActionFilter()
        (filter.actor, filter.operation, filter.target) = (
            call.query("actor"), call.query("operation"), call.query("target")
        )
        (filter.since, filter.until) = (try call.time("since"), try call.time("until"))
        filter.before = try call.number(in: Self.list)
        let (chosen, limit) = (filter, try call.pageSize())
        let page = try await delayed.reply { () throws(StoreError) in
            try await queue.actionPage(chosen, limit: limit, examining: StoreLimits.scannedRows)
        }
        return .json { json in
            json.array("actions", of: page.records) { $0.action($1) }
            if let next = page.next { json.member("next", PageCursor.text(String(next), in: Self.list)) }
            json.member("complete", page.isComplete)
        }
    }

    /// Records a change of memory. Throws 503 when the queue does not answer; the change stays. `action`: nil for a
    /// request that changes nothing, which has no row.
    func record(_ action: OperatorAction?) async throws(Problem) {
        guard let action else { return }
        try await delayed.reply { () throws(StoreError) in try await queue.record(action, count: nil) }
    }

    /// Records a refused change. Requests without an actor, and those that the queue failed, leave no row. The answer
    /// to the client does not depend on the result.
    func refused(_ call: Call, _ problem: Problem) async {
        guard problem.status.kind == .clientError, let action = call.action(result: problem.code), refusals.take()
        else { return }
        do throws(Problem) { try await record(action) } catch {
            call.context.logger.warning(
                "Refused action not recorded.",
                metadata: ["operation": "\(action.operation)", "actor": "\(action.actor)", "error": "\(error.detail)"])
        }
    }
}

/// Bounds the refusals that are recorded: each one is a durable write, and a client may be refused at any rate.
final class RefusalBudget: Sendable {
    // A class because the APIs of all configs share it.
    /// Refusals within ``interval``; further ones are not recorded.
    static let most = 60
    /// The budget is full again this long after the first refusal of the former interval.
    private static let interval: Duration = .seconds(60)

    /// `taken` counts refusals beyond ``most`` too. `since` is nil before the first one.
    private let state = Mutex((since: ContinuousClock.Instant?.none, taken: 0))
    private let now: @Sendable () -> ContinuousClock.Instant

    /// `now`: tests replace it.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Whether one more may be recorded.
    func take() -> Bool {
        let now = now()
        return state.withLock { state in
            if state.since.map({ now - $0 >= Self.interval }) ?? true { state = (now, 0) }
            state.taken += 1
            return state.taken <= Self.most
        }
    }
}

extension JSONWriter {
    /// One row of the log. Absent values have no member. `count` is the number of changed objects, for changes of
    /// several.
    fileprivate mutating func action(_ record: ActionRecord) {
        let action = record.action
        object { json in
            json.member("id", record.id)
            json.member("at", record.at)
            json.member("actor", action.actor)
            json.member("role", action.role)
            json.member("remote", action.remote)
            json.member("via", action.via.rawValue)
            json.member("operation", action.operation)
            json.member("target", action.target)
            json.object("parameters", of: action.parameters) { $0.string($1) }
            if let count = record.count { json.member("count", count) }
            json.member("reason", action.reason)
            json.member("result", action.result)
        }
    }
}
