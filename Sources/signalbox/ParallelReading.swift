import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Reads inputs in blocks on all cores and hands the results on in the order of the inputs. Memory is bounded: no more
/// blocks are under way than there are cores, and a few.
struct ParallelReading {
    let inputs: InputFiles
    /// Where to begin.
    var position = InputPosition()
    /// A place at or before the position, of an input that is not compressed, from which it can be read.
    var restart: Place?
    static let parsers = ParserPool.forPayloads()
    private let width = ProcessInfo.processInfo.activeProcessorCount + 1

    init(inputs: InputFiles, from position: InputPosition = InputPosition(), restart: Place? = nil) {
        self.inputs = inputs
        self.position = position
        self.restart = restart
    }

    /// A block, and how far its input was read when it was cut.
    struct Block: Sendable {
        let recording: Recording.Block
        /// Of the input.
        let name: String
        /// Of the input, as it lies there.
        let bytesRead: Int
        /// Whether offsets are positions in the file.
        let isPlain: Bool

        var payloads: PayloadBlock { recording.payloads }
        var input: Int { recording.input }
        /// All that begins before it is in this block or in earlier ones.
        var end: InputPosition { InputPosition(input: input, offset: restart?.offset ?? payloads.end) }
        /// Where another run may begin to read behind the block.
        var restart: Place? { isPlain ? payloads.restart : nil }
    }

    private struct Finished<R: Sendable>: Sendable {
        let block: Block
        let result: R
    }

    /// `work` turns a block into a result, at the same time as others; `consume` gets the results one by one, and none any
    /// more once it has failed.
    func run<R: Sendable>(
        work: @escaping @Sendable (Block, JSONParser) -> R, consume: (Block, R) async throws -> Void
    ) async throws {
        let parsers = Self.parsers
        var window = OrderedTasks<Finished<R>>()
        var canConsume = true
        func consumeNext() async throws -> Bool {
            guard let finished = await window.next() else { return false }
            guard canConsume else { return true }
            // Until it has succeeded: what comes behind a block that failed must not be taken.
            canConsume = false
            try await consume(finished.block, finished.result)
            canConsume = true
            return true
        }
        do {
            try await forEachBlock { block in
                window.start {
                    Finished(block: block, result: parsers.withParser { work(block, $0) })
                }
                if window.count > width { _ = try await consumeNext() }
            } whileWaiting: {
                while try await consumeNext() {}
            }
            while try await consumeNext() {}
        } catch {
            // What was read before the fault still counts, and nobody may be at work when the process ends.
            do { while try await consumeNext() {} } catch { while await window.next() != nil {} }
            throw error
        }
    }

    /// `whileWaiting` is called when there is nothing to read yet: what was read must not wait for what comes.
    private func forEachBlock(
        _ body: (Block) async throws -> Void, whileWaiting: () async throws -> Void
    ) async throws {
        for input in inputs.paths.indices where input >= position.input {
            let isFirst = input == position.input
            let restart = isFirst ? restart : nil
            var file = try inputs.open(input, from: restart?.offset)
            var blocks = restart.map { PayloadBlocks(from: $0) } ?? PayloadBlocks()
            var hasMore = true
            while hasMore {
                if file.wouldWait { try await whileWaiting() }
                hasMore = try file.read { blocks.append($0) }
                if !hasMore { blocks.finish() }
                let payloads = blocks.take()
                if payloads.isEmpty { continue }
                try await body(
                    Block(
                        recording: Recording.Block(payloads, input: input, first: isFirst ? position.offset : 0),
                        name: file.name, bytesRead: file.bytesRead, isPlain: file.isPlain))
            }
        }
    }
}
