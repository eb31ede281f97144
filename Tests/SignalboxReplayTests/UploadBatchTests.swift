import SignalboxGateway
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct UploadBatchTests {
    private struct Text {
        let bytes: [UInt8]
        let offset: Int
        let time: Timestamp?
    }

    /// Cuts texts as an input contains them; `from` skips the texts before it.
    private func cut(_ texts: [Text], most: Int = 100, span: Int64 = .max, from first: Int = 0) -> [UploadBatch] {
        var batches = UploadBatches(most: most, span: span)
        var all: [UploadBatch] = []
        for text in texts where text.offset >= first {
            let place = PayloadPosition(line: 1, offset: text.offset)
            if let full = batches.add(text.bytes, at: place, recorded: text.time, input: 3) { all.append(full) }
        }
        return all + [batches.close()].compactMap(\.self)
    }

    private func summary(_ batches: [UploadBatch]) -> [String] {
        batches.map { "\($0.first?.offset ?? -1): \($0.places.map(\.offset)), \($0.body.count)" }
    }

    @Test func joinsPayloadsWithLineEnds() {
        let batches = cut([
            Text(bytes: [123, 125], offset: 0, time: nil), Text(bytes: [123, 125], offset: 9, time: nil),
        ])
        #expect(batches.map(\.body) == [Array("{}\n{}".utf8)])
        #expect(batches.first?.first == InputPosition(input: 3, offset: 0))
        #expect(batches.first?.end == InputPosition(input: 3, offset: 10))
    }

    @Test func requestsAreCutByCountStretchAndTime() {
        let texts = [0, 10, 20, 65_530, 65_536, 65_600].map { Text(bytes: [123, 125], offset: $0, time: nil) }
        #expect(cut(texts, most: 2).map { $0.places.map(\.offset) } == [[0, 10], [20, 65_530], [65_536, 65_600]])
        #expect(cut(texts).map { $0.places.map(\.offset) } == [[0, 10, 20, 65_530], [65_536, 65_600]])
        let timed = [0, 40, 120, 130, 500].enumerated().map { position, time in
            Text(bytes: [123, 125], offset: position * 10, time: Timestamp(milliseconds: time))
        }
        #expect(cut(timed, span: 100).map { $0.places.map(\.offset) } == [[0, 10], [20, 30], [40]])
    }

    /// The cuts are the same if any part of the input up to the end of a request is skipped.
    @Test func aResumedRunRepeatsTheSameRequests() {
        let seed: UInt64 = 20_261_123
        var random = SeededGenerator(seed: seed)
        var offset = 0
        var time: Int64 = 0
        let texts = (0..<2000).map { _ in
            offset += Int.random(in: 2...900, using: &random)
            time += Int64.random(in: -20...60, using: &random)
            return Text(bytes: Array("\(offset)".utf8), offset: offset, time: Timestamp(milliseconds: time))
        }
        for (most, span) in [(100, Int64.max), (7, .max), (100, 100)] {
            let all = cut(texts, most: most, span: span)
            #expect(all.count > 10)
            for (position, batch) in all.enumerated() {
                let rest = cut(texts, most: most, span: span, from: batch.end.offset)
                #expect(summary(rest) == summary(Array(all[(position + 1)...])), "seed \(seed)")
            }
        }
    }

    @Test func rejectionsDoNotChangeTheCuts() {
        var batches = UploadBatches()
        batches.add(Rejection(.notJSON, at: PayloadPosition(line: 1, offset: 5), "x"), input: 0)
        #expect(batches.add([1], at: PayloadPosition(line: 2, offset: 9), recorded: nil, input: 0) == nil)
        batches.add(Rejection(.notJSON, at: PayloadPosition(line: 3, offset: 70_000), "x"), input: 0)
        #expect(batches.add([2], at: PayloadPosition(line: 4, offset: 19), recorded: nil, input: 0) == nil)
        let batch = batches.close()
        #expect(batch?.rejections.map(\.place.line) == [1, 3])
        #expect(batch?.first == InputPosition(input: 0, offset: 9))
    }

    @Test func returnsABatchThatCannotGrow() {
        func position(_ offset: Int) -> InputPosition { InputPosition(input: 0, offset: offset) }
        var batches = UploadBatches()
        #expect(batches.reached(position(90))?.end == position(90))
        #expect(batches.add([1], at: PayloadPosition(line: 2, offset: 65_000), recorded: nil, input: 0) == nil)
        #expect(batches.reached(position(65_535)) == nil)
        let batch = batches.reached(position(65_536))
        #expect(batch?.body == [1] && batch?.end == position(65_536))
        batches.add(Rejection(.notJSON, at: PayloadPosition(line: 3, offset: 70_000), "x"), input: 0)
        #expect(batches.reached(position(70_100))?.rejections.count == 1)
        #expect(batches.close()?.end == nil)
    }
}
