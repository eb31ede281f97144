import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Measures requests and counts changes by operators, since the start of the process.
final class ServerCounters: Sendable {
    // A class because the APIs of all configs share it.
    /// Requests with one response.
    struct RequestKey: Hashable, Sendable {
        /// The declared path of an endpoint, or the kind of a provider endpoint.
        let route: String
        /// The status code, or `other`.
        let status: String
    }

    /// Changes with one result.
    struct ActionKey: Hashable, Sendable {
        /// Of ``Endpoint/Operation/name``.
        let operation: String
        /// `done` or `refused`.
        let result: String
    }

    /// 80 of them have series of their own. The others share one.
    let requests = SeriesTable<RequestKey, Histogram>(
        limit: 80, other: { _ in RequestKey(route: GatewayCounters.other, status: GatewayCounters.other) },
        make: { Histogram(.request) })
    /// Changes beyond 200 series count as `other`, with their result.
    let actions = SeriesTable<ActionKey, Counter>(
        limit: 200, other: { ActionKey(operation: GatewayCounters.other, result: $0.result) }, make: { Counter() })

    /// The requests that devices and senders make are shown before they occur, with success and with 503: a failing
    /// queue must have a series, even if other requests have used up the limit. So are all changes.
    init() {
        for endpoint in Endpoint.all where endpoint.access.isOfSources {
            let success = endpoint.path.hasPrefix("/v1/inapp") ? "200" : "202"
            requests.expect([success, "503"].map { RequestKey(route: endpoint.path, status: $0) })
        }
        for service in PushService.allCases {
            requests.expect(["200", "503"].map { RequestKey(route: service.rawValue, status: $0) })
        }
        for operation in Endpoint.all.compactMap(\.operation?.name) {
            actions.expect(["done", "refused"].map { ActionKey(operation: operation, result: $0) })
        }
    }

    /// Measures the requests of a route. `success`: their usual status, which costs no search. Begins the series of
    /// that status, so that the page shows it with 0.
    func timer(of route: String, success: Int) -> RouteTimer {
        RouteTimer(
            route: route, success: success,
            usual: requests.series(for: RequestKey(route: route, status: "\(success)")), table: requests)
    }

    /// Records a response of a route that has no timer. `start`: when its request arrived. A status that the route has
    /// not had yet begins a series.
    func record(_ route: String, _ status: Int, since start: ContinuousClock.Instant, trace: String? = nil) {
        requests.series(for: RequestKey(route: route, status: "\(status)"))
            .observe(ContinuousClock.now - start, trace: trace)
    }

    /// Counts a change of an operator.
    func count(_ operation: String, isDone: Bool) {
        actions.series(for: ActionKey(operation: operation, result: isDone ? "done" : "refused")).add()
    }
}

/// Measures the requests of one route. Callable from any thread. A response with the usual status takes no lock of the
/// table.
struct RouteTimer: Sendable {
    fileprivate let route: String
    /// The status whose histogram is ``usual``.
    fileprivate let success: Int
    /// The series of responses with the status ``success``, which exists from the start.
    fileprivate let usual: Histogram
    fileprivate let table: SeriesTable<ServerCounters.RequestKey, Histogram>

    /// Records a response. `start`: when the head of its request arrived. `trace`: the id of a sampled trace.
    func record(_ status: Int, since start: ContinuousClock.Instant, trace: String? = nil) {
        let histogram =
            status == success
            ? usual : table.series(for: ServerCounters.RequestKey(route: route, status: "\(status)"))
        histogram.observe(ContinuousClock.now - start, trace: trace)
    }
}
