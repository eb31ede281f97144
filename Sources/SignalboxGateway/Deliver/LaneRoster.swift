import SignalboxNotification
import Synchronization

/// The running lanes and their successors. A destination has one lane at a time: a successor starts after every
/// attempt of its predecessor has ended.
///
/// A class because a reload changes it while lanes start and end.
final class LaneRoster: Sendable {
    /// While it is locked, lanes are only read; they are changed after the lock is released.
    private let places: Mutex<Places>
    /// Lanes to run. Ends with ``close()``.
    let starts: AsyncStream<DestinationLane>
    private let start: AsyncStream<DestinationLane>.Continuation

    /// `successors` are lanes of the next config that wait for the end of the running one; a later reload replaces
    /// them.
    private struct Places {
        /// Lanes whose attempts may still be in flight.
        var running: [DestinationName: DestinationLane]
        /// At most one for each destination.
        var successors: [DestinationName: DestinationLane] = [:]
        /// After the close, no successor starts.
        var isClosed = false
    }

    /// The names must be different. The lanes are in ``starts`` at once.
    init(_ lanes: [DestinationLane]) {
        (starts, start) = AsyncStream.makeStream(of: DestinationLane.self)
        places = Mutex(Places(running: Dictionary(uniqueKeysWithValues: lanes.map { ($0.name, $0) })))
        for lane in lanes { start.yield(lane) }
    }

    /// The running lanes, including retired ones.
    var lanes: [DestinationLane] { places.withLock { Array($0.running.values) } }

    /// Replaces all lanes, except running ones for which `keeps` holds. Replaced lanes finish their attempts in
    /// flight. Has no effect after ``close()``. Calls `keeps` under the lock, so it must not call the roster. The lane
    /// of a destination that is not among `lanes` ends without a successor.
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

    /// Records that a lane has ended, and starts its successor if there is one. Call it once for each lane from
    /// ``starts``, after its last attempt. The backoff of the lane continues in a successor with the same receiver, or
    /// its record is removed before the successor starts.
    func ended(_ lane: DestinationLane) async {
        let successor = places.withLock { places -> DestinationLane? in
            let successor = places.isClosed ? nil : places.successors.removeValue(forKey: lane.name)
            places.running[lane.name] = successor
            return successor
        }
        if successor?.follow(lane) != true { await lane.forgetBackoff() }
        if let successor { start.yield(successor) }
    }

    /// Starts no further lane. Running lanes are not ended; successors that wait are never started.
    func close() {
        places.withLock { $0.isClosed = true }
        start.finish()
    }
}
