import SignalboxNotification
import Synchronization

/// Which lanes run, and which follow them: a destination has one lane at a time, and the next begins when all that its
/// predecessor had under way has ended.
///
/// A class because the config may change from anywhere while lanes begin and end.
final class LaneRoster: Sendable {
    private let places: Mutex<Places>
    /// Lanes that are to be run now. Ends with ``close()``.
    let starts: AsyncStream<DestinationLane>
    private let start: AsyncStream<DestinationLane>.Continuation

    private struct Places {
        var running: [DestinationName: DestinationLane]
        var successors: [DestinationName: DestinationLane] = [:]
        var isClosed = false
    }

    init(_ lanes: [DestinationLane]) {
        (starts, start) = AsyncStream.makeStream(of: DestinationLane.self)
        places = Mutex(Places(running: Dictionary(uniqueKeysWithValues: lanes.map { ($0.name, $0) })))
        for lane in lanes { start.yield(lane) }
    }

    /// Those that run, retired ones included.
    var lanes: [DestinationLane] { places.withLock { Array($0.running.values) } }

    /// Replaces all lanes: one for which `keeps` holds, given it and the one that is to follow, runs on. What the others
    /// have under way ends as it began. No lane begins any more once the roster is closed.
    func replace(by lanes: [DestinationLane], keeping keeps: (_ old: DestinationLane, _ new: DestinationLane) -> Bool) {
        let next = Dictionary(uniqueKeysWithValues: lanes.map { ($0.name, $0) })
        let (begun, retired) = places.withLock { places -> ([DestinationLane], [DestinationLane]) in
            guard !places.isClosed else { return ([], []) }
            var begun: [DestinationLane] = []
            var retired: [DestinationLane] = []
            for (name, old) in places.running {
                guard let new = next[name], !old.isRetired, keeps(old, new) else {
                    places.successors[name] = next[name]
                    retired.append(old)
                    continue
                }
            }
            for (name, new) in next where places.running[name] == nil {
                places.running[name] = new
                begun.append(new)
            }
            return (begun, retired)
        }
        for lane in begun { start.yield(lane) }
        for lane in retired { lane.retire() }
    }

    /// A lane has ended; its successor begins, unless there is none.
    func ended(_ name: DestinationName) {
        let successor = places.withLock { places -> DestinationLane? in
            let successor = places.isClosed ? nil : places.successors.removeValue(forKey: name)
            places.running[name] = successor
            return successor
        }
        if let successor { start.yield(successor) }
    }

    /// No lane begins any more.
    func close() {
        places.withLock { $0.isClosed = true }
        start.finish()
    }
}
