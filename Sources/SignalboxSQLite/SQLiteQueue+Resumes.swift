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
    /// off. A backoff that this process records meanwhile is compared at the next tick. A changed end in the
    /// future is not treated as a resume: usually, the end was shifted because the clock was set.
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
                // Remembers a shifted end, which would otherwise look like a resume once it has passed. A nearer end
                // may be a resume: smaller steps of the clock shift no ends.
                if moved > now + Int64(StoreClock.tolerance * 1000) { present[destination] = moved }
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
