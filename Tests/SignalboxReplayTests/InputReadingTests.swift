import Foundation
import SignalboxNotification
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// Inputs, blocks and rejections of a run, with real files.
@Suite(.timeLimit(.minutes(15))) struct InputReadingTests {
    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func offsets(of paths: [String], from start: InputPosition = .init()) async throws -> [InputPosition] {
        var found: [InputPosition] = []
        try await ParallelReading(inputs: InputFiles(paths), from: start).run { block, parser in
            var offsets: [Int] = []
            block.payloads.forEachText(from: block.first) { _, place in
                offsets.append(place.offset)
                return true
            } rejected: { _ in
                true
            }
            return offsets
        } consume: { block, offsets in
            found += offsets.map { InputPosition(input: block.input, offset: $0) }
        }
        return found
    }

    @Test func readsInputsInTheirOrder() async throws {
        try await withTemporaryDirectory { directory in
            let (a, b) = (directory + "/a", directory + "/b")
            try write("{}\n{}\n", to: a)
            try write("[{},{}]", to: b)
            let all = try await offsets(of: [a, b])
            #expect(all == [.init(), .init(offset: 3), .init(input: 1, offset: 1), .init(input: 1, offset: 4)])
            #expect(try await offsets(of: [a, b], from: .init(offset: 1)) == Array(all.dropFirst()))
            #expect(try await offsets(of: [a, b], from: .init(input: 1)) == Array(all.suffix(2)))
        }
    }

    @Test func consumesNoBlockAfterAFailure() async throws {
        try await withTemporaryDirectory { directory in
            let paths = (0..<20).map { directory + "/\($0)" }
            for path in paths { try write("{}\n", to: path) }
            var consumed = 0
            var failure: (any Error)?
            do {
                try await ParallelReading(inputs: InputFiles(paths)).run { block, _ in
                    block.input
                } consume: { _, input in
                    consumed += 1
                    if input == 3 { throw ReplayError.limitReached }
                }
            } catch {
                failure = error
            }
            #expect(failure as? ReplayError == .limitReached)
            #expect(consumed == 4)
        }
    }

    @Test func refusesInputsThatCannotBeRead() throws {
        #expect(throws: ReplayError.refused("Cannot read /: Is a directory. No payload was replayed.")) {
            try InputFiles(["/"]).check(outcome: "No payload was replayed.")
        }
        #expect(throws: ReplayError.self) { try InputFiles(["/no/such/file"]).check(outcome: "") }
    }

    @Test func reportsADamagedInput() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/cut.gz"
            try Data(gzip(Array("{}\n".utf8)).dropLast(6)).write(to: URL(fileURLWithPath: path))
            let damaged = ReplayError.damaged("\(path) is damaged or cut off: it cannot be decompressed to its end.")
            await #expect(throws: damaged) { _ = try await offsets(of: [path]) }
        }
    }

    /// Tapes and block devices fill their last block.
    @Test func ignoresZerosAfterGzip() async throws {
        let padded = gzip(Array("{}\n".utf8)) + [UInt8](repeating: 0, count: 512)
        #expect(try Decompression.gunzip(padded, upTo: 100) == Array("{}\n".utf8))
        #expect(throws: Decompression.Damaged.self) { try Decompression.gunzip(padded + [1], upTo: 100) }
        try await withTemporaryDirectory { directory in
            let path = directory + "/padded.gz"
            try Data(padded).write(to: URL(fileURLWithPath: path))
            #expect(try await offsets(of: [path]).count == 1)
        }
    }

    /// As pzstd writes: each frame of data follows a skippable one with its size (RFC 8878, 3.1.1 and 3.1.2).
    @Test func readsZstandardThatBeginsWithASkippableFrame() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/parallel.zst"
            let size: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 0x04, 0x00, 0x00, 0x00, 0x0C, 0x00, 0x00, 0x00]
            let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x03, 3 << 3 | 1, 0x00, 0x00] + Array("{}\n".utf8)
            try Data(size + frame + size + frame).write(to: URL(fileURLWithPath: path))
            #expect(try await offsets(of: [path]).count == 2)
        }
    }

    /// A frame whose head asks for a window of 256 MiB (RFC 8878, 3.1.1.1.2), and one empty block.
    @Test func explainsAWindowThatIsTooLarge() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/large.zst"
            let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 18 << 3, 0x01, 0x00, 0x00]
            try Data(frame).write(to: URL(fileURLWithPath: path))
            let failure = await #expect(throws: ReplayError.self) { _ = try await offsets(of: [path]) }
            guard case .damaged(let sentence)? = failure, sentence.contains("--long=31") else {
                Issue.record("\(failure as Any)")
                return
            }
        }
    }

    @Test func decompressesUpToALimit() throws {
        let bytes = Array(String(repeating: "signalbox", count: 10_000).utf8)
        #expect(try Decompression.gunzip(gzip(bytes), upTo: bytes.count) == bytes)
        #expect(throws: Decompression.Damaged.self) { try Decompression.gunzip(gzip(bytes), upTo: bytes.count - 1) }
        #expect(throws: Decompression.Damaged.self) { try Decompression.gunzip(bytes, upTo: bytes.count) }
    }

    // MARK: Rejections

    private func rejection(_ line: Int) -> Rejection {
        Rejection(.truncated, at: PayloadPosition(line: line, offset: line * 10), "Cut off.")
    }

    @Test func reportsTheFirstTenRejections() throws {
        let lines = Mutex<[String]>([])
        let diagnostics = Diagnostics { line in lines.withLock { $0.append(line) } }
        var list = try RejectList(path: nil, namesInputs: true, diagnostics: diagnostics)
        for line in 1...20 { try list.add(rejection(line), in: "a") }
        let count = list.count
        #expect(count == 20)
        let written = lines.withLock { $0 }
        #expect(written.count == 11)
        #expect(written.first == "signalbox: a, line 1: Cut off.\n")
        #expect(written.last == "signalbox: more payloads were rejected; --rejects FILE lists all.\n")
    }

    @Test func continuesTheFileOfAnEarlierRun() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/rejects"
            let silent = Diagnostics { _ in }
            var first = try RejectList(path: path, namesInputs: false, diagnostics: silent)
            try first.add(rejection(1), in: "a")
            let bytes = first.bytes
            try first.add(rejection(2), in: "a")
            var second = try RejectList(path: path, namesInputs: false, count: 1, bytes: bytes, diagnostics: silent)
            try second.add(rejection(3), in: "a")
            let count = second.count
            #expect(count == 2)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(
                text == """
                    {"line":1,"offset":10,"code":"payload-truncated","message":"Cut off.","input":"a"}
                    {"line":3,"offset":30,"code":"payload-truncated","message":"Cut off.","input":"a"}

                    """)
            #expect(throws: ReplayError.self) {
                _ = try RejectList(path: path, namesInputs: false, count: 9, bytes: 9000, diagnostics: silent)
            }
        }
    }

    @Test func saysWhyTheFileOfRejectionsCannotBeWritten() async throws {
        try await withTemporaryDirectory { directory in
            let silent = Diagnostics { _ in }
            for (path, reason) in [
                (directory, "Is a directory"), (directory + "/none/rejects", "No such file or directory"),
            ] {
                let sentence = "Cannot write \(path): \(reason). Name another file with --rejects."
                #expect(throws: ReplayError.refused(sentence)) {
                    _ = try RejectList(path: path, namesInputs: false, diagnostics: silent)
                }
            }
        }
    }

    @Test func callsHandlersOfAnInterruption() {
        let interruption = Interruption()
        let calls = Mutex(0)
        interruption.whenItHappens { calls.withLock { $0 += 1 } }
        #expect(!interruption.happened)
        interruption.happen()
        interruption.whenItHappens { calls.withLock { $0 += 1 } }
        #expect(interruption.happened && calls.withLock { $0 } == 2)
    }
}
