import Foundation
import Hummingbird
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// The routes of the config, their counters, and their decisions about a test event. For operators.
struct RoutesAPI: Sendable {
    /// Disabled routes included, in the order of the config.
    let routes: RouteTable
    /// Runs the pipeline up to the decision.
    let trials: RouteTrials
    /// The events of each route since the gateway started.
    let counts: RouteCounts
    /// The status of the config that declares these routes.
    let status: ActiveConfigStatus

    /// The counters of each route, in the order of the config. A route without an event has 0. A renamed route starts
    /// at 0.
    var counters: [(name: String, count: RouteCounts.Count)] {
        let counts = counts.all
        return routes.routes.map { ($0.name, counts[$0.name] ?? .init()) }
    }

    /// Names, counters and destinations of all routes, disabled ones included, and the status of the active config.
    /// `matched` and `failed` count since the start of the process. Never fails: it reads memory only. `fallback` is
    /// absent for a config without one.
    func list() -> Response {
        .json { json in
            json.array("routes", of: zip(routes.routes, counters)) { json, entry in
                let (route, counter) = entry
                json.object { json in
                    json.member("name", route.name)
                    json.member("enabled", route.isEnabled)
                    json.member("to", route.destinations.map(\.name))
                    json.member("stop", route.stop)
                    json.member("matched", counter.count.matched)
                    json.member("failed", counter.count.failed)
                }
            }
            if !routes.fallback.isEmpty { json.member("fallback", routes.fallback.map(\.name)) }
            json.key("config")
            status.write(into: &json)
        }
    }

    /// Decides with the same code as the gateway does, and stores no event. Throws 400 or 422 for a payload that is
    /// rejected. The body is a payload, or an event in structured CloudEvents JSON. `source` need not be in the
    /// config; it is part of a payload's event and fixes the vendor if the config says so. The trial changes no
    /// counter. A sampled route decides by the event's id, which is new for each payload, so trials of one payload
    /// may differ.
    func test(_ call: Call, _ body: [UInt8]) throws(Problem) -> Response {
        let source = try call.trialSource()
        do throws(Rejection) {
            let trial = try trials.trial(of: body, from: source, at: Date())
            return .json { $0.members(of: trial) }
        } catch {
            throw Problem(error)
        }
    }
}

/// The body of `POST /v1/routes/test`.
extension JSONWriter {
    /// The verdict of each route. `destinations` has each destination once.
    fileprivate mutating func members(of trial: RouteTrial) {
        member("subject", trial.subject)
        verdicts(of: trial)
        member("fallback", trial.usesFallback)
        member("destinations", trial.destinations.map(\.name))
    }
}
