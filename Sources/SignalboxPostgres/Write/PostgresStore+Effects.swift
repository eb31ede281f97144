import SignalboxStore

extension PostgresStore {
    /// Runs a transaction on this thread, for a group of writes, with its effects in memory: undoes those of a run
    /// that failed, and applies those of the run that was committed. `body` may run several times; each time it
    /// receives empty effects.
    func commit<T>(
        on lane: WriterLane, _ body: (PostgresTransaction, inout WriteEffects) throws -> T
    ) throws(CommitFailure) -> T {
        var effects = WriteEffects()
        let begun = ContinuousClock.now
        defer { health.commits.observe(ContinuousClock.now - begun) }
        let result: T
        do throws(CommitFailure) {
            result = try writer(lane).run { transaction in
                undo(effects)
                effects = WriteEffects()
                return try body(transaction, &effects)
            }
        } catch {
            undo(effects)
            health.commitFailed(error, ofEvents: lane.acceptsEvents)
            throw error
        }
        health.commitSucceeded(ofEvents: effects.storesEvents)
        apply(effects)
        return result
    }

    /// Changes the memory after a commit.
    func apply(_ effects: WriteEffects) {
        effects.apply(to: lanes, categories, health, observer: { [inAppChanges] _ in inAppChanges.look() })
    }

    /// Frees the room that was reserved for deliveries that were not committed.
    func undo(_ effects: WriteEffects) { effects.undo(in: lanes, categories) }

    /// The writer of a lane; each has one.
    func writer(_ lane: WriterLane) -> PostgresWriter {
        guard let writer = writers[lane] else { preconditionFailure("Every lane has a writer.") }
        return writer
    }
}
