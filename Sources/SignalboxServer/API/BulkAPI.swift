import Hummingbird
package import SignalboxJSON
import SignalboxNotification
package import SignalboxStore

/// Changes of all deliveries that a filter selects: a preview first, then a run that confirms it.
struct BulkAPI: Sendable {
    /// Reads and changes deliveries.
    let operations: OperationsAPI
    /// Makes and checks the tokens that confirm runs.
    let confirmations: BulkConfirmations

    private var queue: any InspectionStore { operations.queue }

    /// How long the request waits for its preview or its run. A preview may read every delivery and event. A million
    /// deliveries take less than a minute. A run that takes longer continues; the count of its action grows with each
    /// step.
    private static let longestRun: Duration = .seconds(600)

    /// Without a body, requeues at once the deliveries that the query selects, and answers `{"due": N}`, their number.
    /// Throws 400 for an invalid request, 404 for an unknown destination and 409 for a token that is not valid.
    func retry(_ call: Call, _ body: [UInt8]) async throws -> Response {
        if JSONBody.isAbsent(body) { return try await retryAtOnce(call) }
        return try await change(.retry, call, body)
    }

    /// Needs a body, and a reason for the run.
    func purge(_ call: Call, _ body: [UInt8]) async throws -> Response {
        if JSONBody.isAbsent(body) { throw Problem.changeBody("Send a filter and dryRun for a preview.", at: "") }
        return try await change(.purge, call, body)
    }

    /// Dead deliveries only, unless the query names another state.
    private func retryAtOnce(_ call: Call) async throws(Problem) -> Response {
        var filter = try DeliveryFilter { call.query($0.name) }
        filter.state = filter.state ?? .dead
        try await operations.requireDestination(of: filter)
        let (chosen, action) = (filter, call.action)
        let count = try await operations.delayed.reply(within: Self.longestRun) { () throws(StoreError) in
            try await queue.retry(chosen, as: action)
        }
        return .json { $0.member("due", count) }
    }

    /// Throws 400 if the query has conditions too, and for a purge without a reason. Throws 404 for an unknown
    /// destination, and 409 for a token that does not confirm this request.
    private func change(_ change: BulkChange, _ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        let request = try BulkRequest(body, for: change)
        call.describe(request)
        if let given = DeliveryFilter.parameters.first(where: { call.query($0.name) != nil }) {
            throw .changeBody("The query has \(given.name) too: send conditions in filter only.", at: "/filter")
        }
        try await operations.requireDestination(of: request.filter)
        switch request.step {
        case .preview: return try await preview(change, request)
        case .run(let token):
            if change == .purge, call.reason == nil { throw .reasonRequired }
            let statements = try confirmations.statements(of: token, for: change, request.conditions)
            return try await run(change, request, statements, as: call.action)
        }
    }

    /// Changes no delivery. The answer has the token that confirms the run, which is valid for
    /// ``BulkConfirmations/lifetime``.
    private func preview(_ change: BulkChange, _ request: BulkRequest) async throws(Problem) -> Response {
        let preview = try await operations.delayed.reply(within: Self.longestRun) { () throws(StoreError) in
            try await queue.preview(change, of: request.filter)
        }
        let token = confirmations.token(for: preview, of: change, request.conditions)
        return .json { json in
            json.members(of: preview)
            json.member("confirm", token)
        }
    }

    /// Changes what the preview counted and still matches. A delivery whose attempt is in progress stays. A repeated
    /// run does not requeue a dead letter twice: one that failed again ended after the preview.
    private func run(
        _ change: BulkChange, _ request: BulkRequest, _ statements: BulkConfirmations.Statements,
        as action: OperatorAction?
    ) async throws(Problem) -> Response {
        var filter = request.filter
        (filter.through, filter.endedBefore) = (statements.through, statements.date)
        let spread = request.spread > 0 ? BulkSpread(of: statements.count, over: .seconds(request.spread)) : nil
        let chosen = filter
        let count = try await operations.delayed.reply(within: Self.longestRun) { () throws(StoreError) -> Int in
            switch change {
            case .retry: try await queue.retry(chosen, spread: spread, as: action)
            case .purge: try await queue.purge(chosen, sparingUndelivered: false, as: action)
            }
        }
        return .json { json in
            json.member("count", count)
            json.member(change == .retry ? "due" : "removed", count)
        }
    }
}

extension JSONWriter {
    /// The members of a preview, without the token that confirms it. Destinations are in the order of their names.
    package mutating func members(of preview: BulkPreview) {
        member("count", preview.count)
        member("oldest", preview.accepted?.lowerBound)
        member("newest", preview.accepted?.upperBound)
        object("byDestination") { json in
            for (name, count) in preview.byDestination.sorted(by: { $0.key < $1.key }) {
                json.key(name.name)
                json.integer(count)
            }
        }
        member("through", preview.through)
    }
}

extension Call {
    /// The action log shows the conditions and the spread of the request.
    fileprivate func describe(_ request: BulkRequest) {
        var parameters = request.conditions
        if request.spread > 0 { parameters["spread"] = String(request.spread) }
        if request.step == .preview { parameters[Self.preview] = "true" }
        details?.set(parameters, reason: request.reason)
    }
}
