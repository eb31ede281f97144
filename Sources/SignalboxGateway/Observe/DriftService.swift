package import Logging
import ServiceLifecycle
import SignalboxNotification

/// Examines recent events for keys that no detector reads, away from the flows that accept them, and stores what it
/// found. One for each process.
package struct DriftService: NamedService {
    private let observation: Observation
    private let file: KnownKeysFile
    private let logger: Logger
    private let clock: any Clock<Duration>

    /// The time between two examinations.
    static let interval: Duration = .seconds(1)
    /// The number of examinations after which new keys are stored.
    private static let looksPerFile = 60
    /// The limits of one examination: events in a step, and steps. The sample has fewer events.
    private static let (step, mostSteps) = (256, 16)

    /// `file`: the path of the record.
    package init(
        _ observation: Observation, file: String, logger: Logger, clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.observation, self.logger, self.clock) = (observation, logger, clock)
        self.file = KnownKeysFile(path: file)
    }

    /// Runs until a graceful shutdown, and stores the record at the end. Never throws.
    package func run() async throws {
        restore()
        await cancelWhenGracefulShutdown {
            var position = RecentPosition()
            var looks = 0
            let outage = Outage()
            while !Task.isCancelled {
                position = examine(after: position)
                looks += 1
                if looks.isMultiple(of: Self.looksPerFile) { store(outage) }
                do { try await clock.sleep(for: Self.interval) } catch { break }
            }
            _ = examine(after: position)
        }
        store(Outage())
    }

    /// Continues the record of the file; begins another one if it cannot be read.
    func restore() {
        do throws(KnownKeysFile.Failure) {
            if let snapshot = try file.read() { observation.drift.restore(snapshot) }
        } catch {
            logger.warning("Record of vendor keys unreadable; beginning a new one.", metadata: ["file": "\(file.path)"])
        }
    }

    /// Returns the position after the last event that was examined.
    func examine(after position: RecentPosition) -> RecentPosition {
        var position = position
        for _ in 0..<Self.mostSteps {
            let reading = observation.recent.read(after: position, upTo: Self.step, others: false)
            for entry in reading.entries {
                if case .event(let event) = entry.item { observation.drift.record(event, at: observation.clock.now) }
            }
            position = reading.position
            if reading.entries.count < Self.step { break }
        }
        return position
    }

    /// Logs the first failure of an outage, and its end. The next call repeats a failed write.
    func store(_ outage: Outage) {
        guard observation.drift.takeChange() else { return }
        do throws(KnownKeysFile.Failure) {
            try file.write(observation.drift.snapshot)
            if outage.ends() { logger.notice("Vendor keys stored again.", metadata: ["file": "\(file.path)"]) }
        } catch {
            observation.drift.returnChange()
            guard outage.begins() else { return }
            logger.warning("Cannot store vendor keys.", metadata: ["file": "\(file.path)", "error": "\(error)"])
        }
    }
}
