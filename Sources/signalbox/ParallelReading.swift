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
    /// `onBytes` hears how much of the present file was read so far.
    func run<R: Sendable>(
        onBytes: (Int) -> Void = { _ in },
        work: @escaping @Sendable (PayloadBlock, JSONParser) -> R,
        consume: (_ input: String, R) async throws -> Void
    ) async throws {
        let parsers = ParserPool.forPayloads()
        try await inputs.forEach { file in
            var window = Window<R>()
            do {
                var blocks = PayloadBlocks()
                var hasMore = true
                while hasMore {
                    hasMore = try file.read { blocks.append($0) }
                    if !hasMore { blocks.finish() }
                    onBytes(file.bytesRead)
                    let block = blocks.take()
                    if block.isEmpty { continue }
                    window.start { parsers.withParser { work(block, $0) } }
                    if window.count > width, let result = await window.next() { try await consume(file.name, result) }
                }
            } catch {
                // What was read before the fault still counts, and nobody may be at work when the process ends.
                var canConsume = true
                while let result = await window.next() {
                    guard canConsume else { continue }
                    do { try await consume(file.name, result) } catch { canConsume = false }
                }
                throw error
            }
            while let result = await window.next() { try await consume(file.name, result) }
        }
    }

    /// Work under way, its results in the order in which it was started.
    private struct Window<R: Sendable> {
        // Not a task group: results are wanted in order. Every task is awaited by `next`.
        private var tasks: [Task<R, Never>] = []

        var count: Int { tasks.count }

        mutating func start(_ work: @escaping @Sendable () -> R) { tasks.append(Task { work() }) }

        mutating func next() async -> R? { tasks.isEmpty ? nil : await tasks.removeFirst().value }
    }
}
