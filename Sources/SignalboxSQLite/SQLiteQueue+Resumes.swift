import Foundation
import GRDB
package import SignalboxNotification
import SignalboxStore
import Synchronization

/// Resumes of destinations by other processes, such as `signalbox destinations resume`. An active destination has no
/// row that a resume could remove, so a resume changes the end of the recorded backoff.
extension SQLiteQueue {
    /// Answered from memory; never reads the file.
    package func takeResumed(_ destination: DestinationName) -> Bool { file.lanes.takeResumed(destination) }

    /// Tells the lanes whose recorded backoffs another process ended. Reads the file only while a destination backs
    /// off. A backoff that this process records meanwhile is compared at the next tick. A changed end that is still to
    /// come is not a resume: the backoff has followed a clock that was set.
    func adoptResumes() async throws(StoreError) {
        let recorded = recordedBackoffs.withLock(\.self)
        guard !recorded.isEmpty else { return }
        let found = try await file.read { try $0.backoffEnds() }
        let now = now.milliseconds
        let resumed = recordedBackoffs.withLock { present in
            var resumed: [DestinationName] = []
            for (destination, end) in recorded where present[destination] == end && found[destination] != end {
                guard let moved = found[destination], moved > now else {
                    resumed.append(destination)
                    continue
                }
                // Otherwise it would look like a resume once it has passed. A resume may be ahead by a step of the
                // clock that moves no waits.
                if moved > now + 2000 { present[destination] = moved }
            }
            for destination in resumed { present[destination] = nil }
            return resumed
        }
        if !resumed.isEmpty { file.lanes.resume(resumed) }
    }
}

extension Database {
    /// Lets a recorded backoff end now. An open breaker stays recorded until an attempt succeeds.
    func endBackoff(of destination: DestinationName, at now: Date) throws {
        try run("UPDATE backoffs SET until = ? WHERE destination = ?", [now.milliseconds, destination.name])
    }

    /// In milliseconds since 1970.
    fileprivate func backoffEnds() throws -> [DestinationName: Int64] {
        try rows("SELECT destination, until FROM backoffs").reduce(into: [:]) { ends, row in
            ends[DestinationName(try row.text(0))] = try row.number(1)
        }
    }
}
