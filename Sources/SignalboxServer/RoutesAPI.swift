import Foundation
import HTTPTypes
import Hummingbird
package import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
package import SignalboxRouting

/// The routes of the config, what they took, and what they would do with an event; which config that is. For operators.
package struct RoutesAPI: Sendable {
    private let routes: RouteTable
    private let trials: RouteTrials
    private let counts: RouteCounts
    private let access: AdminAccess
    /// Of the config that the routes are of.
    let status: ActiveConfigStatus
    private let budget = BodyBudget(bytes: 4 * GatewayServer.bodyLimit)

    /// `counts`: what routes took since the gateway was started.
    package init(
        routes: RouteTable, trials: RouteTrials, counts: RouteCounts, status: ActiveConfigStatus, access: AdminAccess
    ) {
        self.routes = routes
        self.trials = trials
        self.counts = counts
        self.status = status
        self.access = access
    }

    static let endpoints = [
        Endpoint("/v1/routes", "GET, HEAD"), Endpoint("/v1/routes/test", "POST", parameters: ["source"]),
    ]

    func add(to router: Router<GatewayRequestContext>) {
        router.get("/v1/routes") { request, _ in try list(request) }
        router.post("/v1/routes/test") { request, context in try await test(request, from: context.peer) }
    }

    /// Each route's figures, in the config's order: for the page of metrics.
    var figures: [(name: String, count: RouteCounts.Count)] {
        let counts = counts.all
        return routes.routes.map { ($0.name, counts[$0.name] ?? .init()) }
    }

    private func list(_ request: Request) throws -> Response {
        try access.check(request)
        let figures = figures
        var json = JSONWriter()
        json.beginObject()
        json.key("routes")
        json.beginArray()
        for (route, figure) in zip(routes.routes, figures) {
            json.beginObject()
            json.member("name", route.name)
            json.key("enabled")
            json.bool(route.isEnabled)
            json.key("to")
            json.strings(route.destinations.map(\.name))
            json.key("stop")
            json.bool(route.stop)
            json.key("matched")
            json.integer(figure.count.matched)
            json.key("failed")
            json.integer(figure.count.failed)
            json.endObject()
        }
        json.endArray()
        if !routes.fallback.isEmpty {
            json.key("fallback")
            json.strings(routes.fallback.map(\.name))
        }
        json.key("config")
        json.config(status)
        json.endObject()
        return .json(.ok, json.bytes)
    }

    private func test(_ request: Request, from peer: PeerAddress) async throws -> Response {
        try access.check(request)
        let source = request.uri.queryParameters["source"].map(String.init) ?? SourceName.default.name
        guard NameRule.allows(source) else { throw Problem.badQuery("source is no name: \(NameRule.words).") }
        return try await budget.withPurse(for: BodyHolder(source: nil, peer: peer)) { purse in
            let body = try await request.wholeBody(upTo: GatewayServer.bodyLimit, from: purse)
            let trial: RouteTrial
            do throws(Rejection) {
                trial = try trials.trial(of: body, from: SourceName(source), at: Date())
            } catch {
                throw Problem(error)
            }
            var json = JSONWriter()
            json.trial(trial)
            return .json(.ok, json.bytes)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func trial(_ trial: RouteTrial) {
        beginObject()
        member("subject", trial.subject)
        key("routes")
        beginArray()
        for entry in trial.routes {
            beginObject()
            member("name", entry.name)
            key("matched")
            bool(entry.verdict == .taken)
            if entry.verdict == .taken {
                key("to")
                strings(entry.destinations.map(\.name))
            } else {
                member("reason", entry.verdict.code)
            }
            if case .mismatch(let pointer, let found) = entry.verdict {
                member("pointer", pointer)
                member("found", found)
            }
            if case .stopped(let route) = entry.verdict { member("by", route) }
            endObject()
        }
        endArray()
        key("fallback")
        bool(trial.usesFallback)
        key("destinations")
        strings(trial.destinations.map(\.name))
        endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func config(_ status: ActiveConfigStatus) {
        beginObject()
        member("digest", status.digest)
        time("since", status.since)
        if let rejection = status.rejection {
            key("refused")
            beginObject()
            time("at", rejection.at)
            key("problems")
            strings(rejection.problems)
            endObject()
        }
        endObject()
    }
}
