import Hummingbird
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// Destinations for operators: their state, pauses and test events. A value of one config.
struct DestinationsAPI: Sendable {
    /// Its reads see the last commit.
    let queue: any InspectionStore
    /// The destinations of the config.
    let destinations: [Destination]
    /// The state of the running lanes.
    let lanes: @Sendable () -> [DestinationName: LaneSnapshot]
    /// The sender of each destination, for test events.
    let senders: [DestinationName: any Sender]
    /// Makes test events in the gateway's name.
    let events: OperationalEvent
    /// Receives pauses.
    let observation: Observation
    /// Schedules the deadlines of requests.
    var delayed = DelayedCall.onQueue

    /// Includes destinations that are no longer in the config but have deliveries in the queue. Sorted by name.
    func list(_ call: Call) async throws -> Response {
        let views = try await views()
        return .json { json in
            json.array("destinations", of: views) { $0.destination($1, hidesPath: call.hidesContent, now: queue.now) }
        }
    }

    /// Throws 404 for a destination that neither the config nor the queue knows.
    func show(_ call: Call) async throws -> Response {
        let name = call.path("name")
        guard let view = try await views().first(where: { $0.name.name == name }) else {
            throw Problem.noDestination(name)
        }
        let body = [UInt8].json { $0.destination(view, hidesPath: call.hidesContent, now: queue.now) }
        return Response(Reply(status: .ok, body: body))
    }

    /// Reads the queue three times, so the values may differ by a commit. A destination that left the config has no
    /// lane.
    private func views() async throws(Problem) -> [DestinationView] {
        let (statuses, gauges, held) = try await delayed.reply { () throws(StoreError) in
            (try await queue.statuses(), try await queue.gauges(), try await queue.heldCounts())
        }
        let lanes = lanes()
        return DestinationView.all(destinations, statuses, gauges).map { view in
            var view = view
            view.held = held[view.name] ?? 0
            view.lane = view.config == nil ? nil : lanes[view.name]
            return view
        }
    }

    /// `until` ends the pause: the gateway resumes the destination then. Takes effect at once: attempts in progress
    /// end, further ones do not begin. Survives a restart. Throws 404 for a destination that is not in the config, even
    /// if the queue knows it. Another pause replaces the present one. The reason of the request appears in the action
    /// log and in the live view.
    func pause(_ call: Call) async throws -> Response {
        let name = try destination(call)
        let end = try call.query("until").map { text throws(Problem) in
            guard let date = PauseEnd.date(text, now: queue.now) else {
                throw .badQuery("until is \(text.prefix(100)): write \(PauseEnd.words).")
            }
            return date
        }
        try await delayed.reply { () throws(StoreError) in
            try await queue.set(.paused, of: name, until: end, as: call.action)
        }
        observation.changed(name, to: DestinationState.paused.rawValue, because: call.query("reason"))
        return .json { json in
            json.member("name", name.name)
            json.member("state", DestinationState.paused.rawValue)
            json.member("until", end)
        }
    }

    /// Ends every reason why the destination waits. Not an error for an active destination. Throws 404 for a
    /// destination that is not in the config, unless the queue has a pause or another such reason of it.
    func resume(_ call: Call) async throws -> Response {
        let name = try await resumable(call)
        try await delayed.reply { () throws(StoreError) in try await queue.set(nil, of: name, as: call.action) }
        observation.changed(name, to: "active", because: call.query("reason"))
        return .json { json in
            json.member("name", name.name)
            json.member("state", "active")
        }
    }

    /// Takes as long as an attempt, and leaves no delivery. Not limited by pauses. 200 with `taken` false when the
    /// destination did not accept it. Throws 404 for a destination that is not in the config. Does not change the state
    /// of the destination, even after 410.
    func ping(_ call: Call) async throws -> Response {
        let name = try destination(call)
        guard let sender = senders[name] else { preconditionFailure("A destination of the config has a sender.") }
        // Bypasses the queue: the event is sent at once and is not stored.
        let result = await sender.ping(events.pingLease(to: name))
        return .json { json in
            json.member("taken", result.wasTaken)
            if let status = result.status { json.member("status", status) }
            json.member("durationMs", result.duration)
            json.member("detail", result.words)
        }
    }

    /// A destination that left the config keeps its pause in the queue.
    private func resumable(_ call: Call) async throws -> DestinationName {
        let name = DestinationName(call.path("name"))
        if destinations.contains(where: { $0.name == name }) { return name }
        let statuses = try await delayed.reply { () throws(StoreError) in try await queue.statuses() }
        return try statuses[name] == nil ? destination(call) : name
    }

    /// Throws 404 for a destination that is not in the config.
    private func destination(_ call: Call) throws(Problem) -> DestinationName {
        let name = call.path("name")
        guard let known = destinations.first(where: { $0.name.name == name }) else { throw .noDestination(name) }
        return known.name
    }
}
