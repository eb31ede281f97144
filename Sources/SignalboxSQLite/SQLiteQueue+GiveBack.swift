package import SignalboxStore

/// Leases that return to the file without an attempt.
extension SQLiteQueue {
    /// Records that deliveries handed over in memory and not claimed were never begun. Call it once no lane claims any
    /// more. Without it, the next process counts an attempt that may have been made.
    package func giveBackFresh() async throws(StoreError) {
        let fresh = lanes.withHandOff { $0.takeFresh() }
        if !fresh.isEmpty { try await giveBack(fresh) }
    }

    /// The same for destinations that accept nothing for now: their lanes read later deliveries from the file.
    func giveBackIdle() async throws(StoreError) {
        let idle = lanes.idleDestinations
        let fresh = lanes.withHandOff { handOff in idle.flatMap { handOff.takeFresh(of: $0) } }
        if !fresh.isEmpty { try await giveBack(fresh) }
    }

    /// Returns leases to the file. When that fails for good, it releases them in memory only. The file then still says
    /// that they were begun, which counts one attempt too many and loses nothing.
    func giveBack(_ leases: [Lease]) async throws(StoreError) {
        do throws(StoreError) {
            try await commit(.giveBack(leases))
        } catch {
            let now = now()
            lanes.withHandOff { handOff in for lease in leases { handOff.release(lease, due: now) } }
            throw error
        }
    }
}
