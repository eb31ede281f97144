import Foundation
import SignalboxMeasures

/// The durable queue alone.
struct QueueBench {
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    func run() async throws {
        table.section("Durable queue (SQLite, WAL, synchronous=FULL), one event and one delivery an append")
        for writers in [1, 64, 512] {
            let count = writers == 1 ? 2000 : 50_000
            let directory = workspace.file("queue-\(writers)")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let queue = try QueueMeasure(directory: directory, payload: payloads.typical())
            let clock = ContinuousClock()
            let time = try await clock.measure { try await queue.append(count, writers: writers) } / .seconds(1)
            table.row("\(writers) at once", "\((Double(count) / time).readable) appends a second")
        }
    }
}
