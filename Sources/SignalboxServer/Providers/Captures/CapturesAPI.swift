import Hummingbird
import ServiceLifecycle
import SignalboxGateway
import SignalboxJSON

/// The pushes that reached the provider endpoints, for tests and operators. They are in memory: a restart begins with
/// none.
struct CapturesAPI: Sendable {
    /// Shared by all configs.
    let log: CaptureLog
    /// Hashes tokens of requests as events show them.
    let tokens: TokenHash

    /// The most captures of one wait.
    private static let largestCount = 1000
    /// The upper bound of the parameter `timeout`.
    static let longestWait: Duration = .seconds(60)

    /// Without `after`, the newest first; `next` is the `cursor` of older ones, and absent at the end. With `after`,
    /// the oldest first, from there on; `next` is the next `after`. `last` is the cursor of the newest push of all.
    /// Throws 400 for an invalid parameter or body, and 409 without captures.
    func list(_ call: Call, _ body: [UInt8] = []) async throws -> Response {
        let query = try query(call)
        let selection = try query.selection(body)
        let limit = try call.pageSize()
        let last = log.last
        if let after = try query.after() {
            guard call.query("cursor") == nil else { throw Problem.badQuery("Use after or cursor, not both.") }
            let reading = await log.captures(selection, after: after, upTo: limit)
            return page(
                reading.captures, next: reading.examined, last: last, isTruncated: after > 0 && reading.isTruncated,
                hidesContent: call.hidesContent)
        }
        let before = try query.cursor("cursor") ?? .max
        let captures = await log.newest(selection, before: before, upTo: limit + 1)
        return page(
            captures.prefix(limit), next: captures.count > limit ? captures[limit - 1].number : nil, last: last,
            hidesContent: call.hidesContent)
    }

    /// `next`: nil at the end of the list. `isTruncated`: whether captures after the cursor `after` were dropped before
    /// they were read.
    private func page(
        _ captures: some Sequence<Capture>, next: Int64?, last: Int64, isTruncated: Bool = false, hidesContent: Bool
    ) -> Response {
        .json { json in
            json.array("captures", of: captures) { $0.capture($1, in: log, hidesContent: hidesContent) }
            if let next { json.member("next", log.cursor(next)) }
            json.member("last", log.cursor(last))
            if isTruncated { json.member("truncated", true) }
        }
    }

    /// Answers 200 as soon as `count` pushes are there, and 408 with near misses if they do not come in time. Accepted
    /// pushes count, unless `outcome` says otherwise: those of the log, from `after` or `since` if given, and later
    /// ones. Throws 503 when too many waits are in progress or the gateway stops. Ends when the client closes the
    /// connection.
    func wait(_ call: Call, _ body: [UInt8] = []) async throws -> Response {
        let query = try query(call)
        let count = try call.number("count", in: 1...Self.largestCount) ?? 1
        let wait = CaptureWait(
            try query.selection(body, outcome: .accepted), count: count, after: try query.after(),
            timeout: try query.timeout())
        let log = log
        let end = ClientWatch.Signal()
        let result = await ClientWatch.watching(call.context.channel, end) {
            await withGracefulShutdownHandler {
                await end.race { () async -> Result<CaptureWait.Result, CaptureWait.Failure> in
                    do throws(CaptureWait.Failure) { return .success(try await log.wait(wait)) } catch {
                        return .failure(error)
                    }
                }
            } onGracefulShutdown: {
                end.fire()
            }
        }
        switch result {
        case .success(let result): return response(result, to: wait, hidesContent: call.hidesContent)
        case .failure(let failure): throw Problem(failure)
        case nil: throw Problem(CaptureWait.Failure.cancelled)
        }
    }

    /// 200, or the problem 408 with the captures so far and near misses. `next` is the `after` of the next wait in
    /// both.
    private func response(_ result: CaptureWait.Result, to wait: CaptureWait, hidesContent: Bool) -> Response {
        let isComplete = result.captures.count >= wait.count
        let write: (inout JSONWriter) -> Void = { json in
            json.member("complete", isComplete)
            json.array("captures", of: result.captures) { $0.capture($1, in: log, hidesContent: hidesContent) }
            json.member("next", log.cursor(result.examined))
            if result.isTruncated { json.member("truncated", true) }
            if !isComplete { json.nearMisses(result.nearMisses, in: log, hidesContent: hidesContent) }
        }
        guard !isComplete else { return .json { write(&$0) } }
        let problem = Problem.captureTimeout(result.captures.count, of: wait.count, in: wait.timeout)
        let body = [UInt8].json { problem.write(into: &$0, write) }
        return Response(
            Reply(
                status: problem.status, headers: problem.headers, contentType: "application/problem+json", body: body))
    }

    /// Removes the captures of a run, or all; answers `{"removed": 3}`. Waits in progress keep those that they have
    /// counted.
    func remove(_ call: Call) throws(Problem) -> Response {
        let selection = try query(call).selection()
        let removed = log.remove(run: selection.run)
        return .json { $0.member("removed", removed) }
    }

    /// Throws what ``list(_:_:)`` and ``wait(_:_:)`` throw for their parameters.
    func checkHead(of call: Call) throws(Problem) {
        let query = try query(call)
        _ = try query.selection()
        _ = (try query.after(), try query.cursor("cursor"), try query.timeout())
        _ = (try call.pageSize(), try call.number("count", in: 1...Self.largestCount))
    }

    /// Throws 409 while the config keeps no captures.
    private func query(_ call: Call) throws(Problem) -> CaptureQuery {
        guard log.isOn else { throw .capturesOff }
        return CaptureQuery(call: call, log: log, tokens: tokens)
    }
}
