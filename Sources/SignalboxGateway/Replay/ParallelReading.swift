import Foundation
package import SignalboxJSON

/// Reads inputs in blocks on all cores and delivers the results in the order of the inputs. Memory is bounded: at
/// most two blocks more than there are cores are in memory. Every command that reads recordings uses it.
package struct ParallelReading {
    private let inputs: InputFiles
    private let start: InputPosition
    /// Recognises the text of standard input in a run with a resume file; nil in other runs.
    var head: StreamHead?
    static let parsers = ParserPool.forPayloads()
    /// Blocks in memory beyond the one that is being consumed.
    private let width = ProcessInfo.processInfo.activeProcessorCount + 1

    /// `start`: payloads before it are skipped. Opens no file before ``run(work:consume:)``.
    package init(inputs: InputFiles, from start: InputPosition = InputPosition()) {
        (self.inputs, self.start) = (inputs, start)
    }

    /// A block of one input.
    package struct Block: Sendable {
        /// The complete payloads of one or more pieces of the input.
        package let payloads: PayloadBlock
        /// Index of the input, from 0.
        package let input: Int
        /// Payloads that begin before this offset are skipped.
        package let first: Int
        /// The name of the input in messages.
        package let name: String
        /// Bytes of the file that were read when the block was cut, before decompression.
        package let bytesRead: Int

        /// All payloads that begin before this position are in this block or an earlier one.
        var end: InputPosition { InputPosition(input: input, offset: payloads.end) }
    }

    /// Reads all blocks. `work` turns a block into a result, in parallel with others. `consume` receives the results
    /// one at a time, in order, and is not called again after it has failed. Throws the first error of `consume` or
    /// of an input. Blocks that were read before an input's error are still consumed. No task is left when it
    /// returns. `work` runs on a thread of the pool with a parser of its own and must not block. `consume` runs on
    /// the caller's task.
    package func run<R: Sendable>(
        work: @escaping @Sendable (Block, JSONParser) -> R, consume: (Block, R) async throws -> Void
    ) async throws {
        let parsers = Self.parsers
        var window = OrderedTasks<(Block, R)>()
        var canConsume = true
        func consumeNext() async throws -> Bool {
            guard let (block, result) = await window.next() else { return false }
            guard canConsume else { return true }
            // Stays false if `consume` throws: blocks after a failed block must not be consumed.
            canConsume = false
            try await consume(block, result)
            canConsume = true
            return true
        }
        do {
            try await forEachBlock { block in
                window.start { (block, parsers.withParser { work(block, $0) }) }
                if window.count > width { _ = try await consumeNext() }
            } whileWaiting: {
                while try await consumeNext() {}
            }
            while try await consumeNext() {}
        } catch {
            // Blocks before the fault still count, and every task ends before this function does.
            do { while try await consumeNext() {} } catch { await window.finish() }
            throw error
        }
    }

    /// `whileWaiting` runs while an input has no data yet, so that blocks already read are not delayed. Skips inputs
    /// and blocks before the start.
    private func forEachBlock(
        _ body: (Block) async throws -> Void, whileWaiting: () async throws -> Void
    ) async throws {
        for input in inputs.paths.indices where input >= start.input {
            let first = input == start.input ? start.offset : 0
            var file = try inputs.open(input)
            var blocks = PayloadBlocks()
            let head = inputs.paths[input] == "-" ? head : nil
            var (hasMore, end) = (true, 0)
            while hasMore {
                if file.wouldWait { try await whileWaiting() }
                hasMore = try file.read { piece in
                    blocks.append(piece)
                    head?.append(piece)
                }
                if !hasMore { blocks.finish() }
                if let head, try !head.isKnown(isEnd: !hasMore) { continue }
                let payloads = blocks.take()
                end = max(end, payloads.end)
                if head != nil, !hasMore, end < first { throw StreamHead.otherText("ends earlier") }
                if payloads.isEmpty || payloads.end <= first { continue }
                try await body(
                    Block(payloads: payloads, input: input, first: first, name: file.name, bytesRead: file.bytesRead))
            }
        }
    }
}

/// Tasks whose results are delivered in the order in which they were started. Only one task may use a value. The
/// number of tasks is bounded by its user. A value that is dropped leaves its tasks running; call ``finish()`` first.
struct OrderedTasks<R: Sendable> {
    // Unstructured: a task group would deliver results in the order of completion. `next` awaits every task.
    private var tasks: [Task<R, Never>] = []

    /// Tasks whose result was not taken yet, finished or not.
    var count: Int { tasks.count }

    /// The task begins at once and runs in parallel with the others.
    mutating func start(_ work: @escaping @Sendable () async -> R) { tasks.append(Task { await work() }) }

    /// The result of the oldest task; nil if there is no task. Waits until that task has ended. A cancellation of the
    /// caller does not cancel it.
    mutating func next() async -> R? { tasks.isEmpty ? nil : await tasks.removeFirst().value }

    /// Waits for all tasks and ignores their results.
    mutating func finish() async { while await next() != nil {} }
}
