import Foundation
import SignalboxJSON
import SignalboxModel
import SignalboxPipeline

/// Reads input in blocks on all cores and hands the results on in the order of the input. Memory is bounded: no more
/// blocks are under way than there are cores, and a few.
struct ParallelReading {
    let inputs: InputFiles
    private let width = ProcessInfo.processInfo.activeProcessorCount + 1

    /// `work` turns a block into a result, at the same time as others; `consume` gets the results one by one.
    /// `onBytes` hears how much was read.
    func run<R: Sendable>(
        onBytes: (Int) -> Void = { _ in },
        work: @escaping @Sendable (PayloadBlock, JSONParser) -> R,
        consume: (_ input: String, R) async throws -> Void
    ) async throws {
        let parsers = ParserPool.forPayloads()
        try await inputs.forEach { name, read in
            var blocks = PayloadBlocks()
            var window: [Task<R, Never>] = []
            var count = 1
            while count > 0 {
                count = try read { $0.isEmpty ? blocks.finish() : blocks.append($0) }
                onBytes(count)
                let block = blocks.take()
                if block.isEmpty { continue }
                // Not a task group: results are wanted in order, and every task is awaited below.
                window.append(Task { parsers.withParser { work(block, $0) } })
                if window.count > width { try await consume(name, window.removeFirst().value) }
            }
            for task in window { try await consume(name, task.value) }
        }
    }
}
