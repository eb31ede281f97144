import Hummingbird
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// The paths of events as a graph, and trials of patterns on real events. A value of one config.
struct FlowsAPI: Sendable {
    /// Its newest events are the sample of every trial.
    let queue: any InspectionStore
    let routes: RouteTable
    /// Shared by all configs.
    let counts: RouteCounts
    /// Schedules the deadlines of requests.
    var delayed = DelayedCall.onQueue

    /// The largest body of a trial in bytes.
    static let bodyLimit = 64 * 1024
    /// The most events that a trial reads, and the most bytes of them.
    private static let (mostEvents, mostBytes) = (1000, 64 << 20)
    /// How long a trial evaluates events.
    private static let longestTrial: Duration = .seconds(1)

    /// Reads memory only. Counts begin with the process. `folded` tells that a node named `other` sums up those with
    /// the smallest counts.
    func graph() -> Response {
        let graph = FlowGraph(counts.flows.all, routes: routes)
        return .json { json in
            json.objects("nodes", of: graph.nodes) { json, entry in
                json.member("id", entry.node.id)
                json.member("kind", entry.node.kind.rawValue)
                json.member("name", graph.label(of: entry.node))
                json.member("count", entry.count)
            }
            json.objects("edges", of: graph.edges) { json, edge in
                json.member("from", edge.from.id)
                json.member("to", edge.to.id)
                json.member("count", edge.count)
            }
            json.member("folded", graph.isFolded)
        }
    }

    /// Tries a pattern on the newest stored events. An operator who may not read content tries it on their masked form,
    /// because matches of a pattern over texts would reveal the texts. Throws 400 for a pattern with mistakes, with the
    /// position in the body, and 503 when the queue does not answer.
    func match(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        let (pattern, limit) = try Self.request(body)
        let events = try await delayed.reply { () throws(StoreError) in
            try await queue.newestEvents(limit, upTo: Self.mostBytes)
        }
        let slices = WorkSlices(upTo: Self.longestTrial)
        let trial =
            call.hidesContent
            ? await PatternTrial(pattern, on: events.lazy.map(\.masked), within: slices)
            : await PatternTrial(pattern, on: events, within: slices)
        return .json { json in
            json.member("seen", trial.seen)
            json.member("matched", trial.matched)
            json.array("samples", of: trial.samples) { $0.sample($1, hidesContent: call.hidesContent) }
            json.member("complete", trial.isComplete)
        }
    }

    /// `{"pattern": {}, "over": 1000}`. `over` is the number of events, 1 to ``mostEvents``, by default the most.
    /// Throws 400 for another form.
    private static func request(_ body: [UInt8]) throws(Problem) -> (Pattern, limit: Int) {
        let (text, limit) = try JSONBody.read(body, known: ["pattern", "over"], syntax: Problem.patternSyntax) {
            root throws(Problem) -> (JSONText, Int) in
            guard let pattern = root["pattern"] else { throw .body("pattern is missing.", at: "") }
            let over = try root["over"].map { value throws(Problem) in
                guard let number = value.integer, (1...Int64(mostEvents)).contains(number) else {
                    throw .body("Expected a whole number from 1 to \(mostEvents).", at: "/over")
                }
                return Int(number)
            }
            return (JSONText(pattern), over ?? mostEvents)
        }
        do throws(InvalidConfig) { return (try Pattern(text: text.bytes), limit) } catch {
            throw .pattern(error.firstError, in: body)
        }
    }
}

extension EventBody {
    /// The same event without texts.
    fileprivate var masked: EventBody {
        EventBody(id: id, acceptedAt: acceptedAt, body: ContentMask.event(body) ?? Array("{}".utf8))
    }
}

extension JSONWriter {
    /// `pointer` and `found` tell the first condition that does not hold, for an event that does not match.
    fileprivate mutating func sample(_ sample: PatternTrial.Sample, hidesContent: Bool) {
        object { json in
            json.member("id", sample.event.id)
            json.member("time", sample.event.acceptedAt)
            json.member("matched", sample.mismatch == nil)
            guard let mismatch = sample.mismatch else { return }
            json.member("pointer", mismatch.pointer)
            if !hidesContent { json.member("found", mismatch.found) }
        }
    }
}
