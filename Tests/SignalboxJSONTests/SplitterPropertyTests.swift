import SignalboxJSON
import SignalboxTesting
import Testing

/// Properties that hold for every input. Failure messages contain the seed.
@Suite struct SplitterPropertyTests {
    private static let seed: UInt64 = 20_261_120

    /// Bytes before, between and after texts.
    enum Frame: String, CaseIterable {
        case lines, crlf, noFinalNewline, blankLines, array, arrayOfLines, spaced, joined, marked

        var parts: (before: String, between: String, behind: String) {
            switch self {
            case .lines: ("", "\n", "\n")
            case .crlf: ("", "\r\n", "\r\n")
            case .noFinalNewline: ("", "\n", "")
            case .blankLines: ("\n \n", "\n\n\t\n", "\n\n")
            case .array: ("[", ",", "]")
            case .arrayOfLines: ("[\n", ",\n", "\n]\n")
            case .spaced: (" ", "  \t", " ")
            case .joined: ("", "", "")
            case .marked: ("\u{FEFF}", "\n", "\n")
            }
        }
    }

    @Test(arguments: Frame.allCases, RandomDocument.Layout.allCases)
    func cutsValidTextsInEveryLayout(_ frame: Frame, _ layout: RandomDocument.Layout) {
        var random = SeededGenerator(seed: Self.seed)
        let (before, between, behind) = frame.parts
        for _ in 0..<60 {
            let texts = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                RandomDocument(using: &random).text(layout)
            }
            var input = Array(before.utf8)
            var expected: [Cut.Piece] = []
            for (position, text) in texts.enumerated() {
                if position > 0 { input += between.utf8 }
                let line = input.count { $0 == UInt8(ascii: "\n") } + 1
                expected.append(Cut.Piece(bytes: text, line: line, offset: input.count, fault: nil))
                input += text
            }
            input += behind.utf8
            let cut = Cut(input, chunks: chunks(of: input.count, using: &random), limit: 1 << 20)
            #expect(cut.pieces == expected, "seed \(Self.seed)")
        }
    }

    /// Documents, some of them damaged, or random bytes, often brackets.
    @Test(arguments: 0..<8)
    func piecesDoNotDependOnChunks(_ part: UInt64) {
        var random = SeededGenerator(seed: Self.seed + part)
        for _ in 0..<150 {
            let input = Bool.random(using: &random) ? damagedInput(using: &random) : noise(using: &random)
            let whole = Cut(input, limit: 1 << 20).pieces
            let parts = Cut(input, chunks: chunks(of: input.count, using: &random), limit: 1 << 20).pieces
            #expect(whole == parts, "seed \(Self.seed + part), input \(input)")
        }
    }

    @Test(arguments: 0..<8)
    func noPieceIsLongerThanTheLimit(_ part: UInt64) {
        var random = SeededGenerator(seed: Self.seed + part)
        for _ in 0..<150 {
            let input = Bool.random(using: &random) ? damagedInput(using: &random) : noise(using: &random)
            let limit = Int.random(in: 1...60, using: &random)
            let pieces = Cut(input, chunks: chunks(of: input.count, using: &random), limit: limit).pieces
            #expect(pieces.allSatisfy { $0.bytes.count <= limit }, "seed \(Self.seed + part), input \(input)")
            #expect(pieces.map(\.offset) == pieces.map(\.offset).sorted())
        }
    }

    @Test(arguments: 0..<8)
    func onlyPunctuationIsOutsidePieces(_ part: UInt64) {
        var random = SeededGenerator(seed: Self.seed + part)
        for _ in 0..<300 {
            let input = Bool.random(using: &random) ? damagedInput(using: &random) : noise(using: &random)
            let pieces = Cut(input, limit: 1 << 20).pieces
            var position = 0
            for piece in pieces {
                let gap = input[min(position, piece.offset)..<piece.offset]
                #expect(position <= piece.offset && isPunctuation(gap), "seed \(Self.seed + part), input \(input)")
                position = piece.offset + piece.bytes.count
            }
            #expect(isPunctuation(input[position...]), "seed \(Self.seed + part), input \(input)")
        }
    }

    @Test func validLinesSurviveDamagedNeighbours() {
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<300 {
            var sound = RandomDocument(using: &random).text(.minified)
            if sound == [UInt8(ascii: "{"), UInt8(ascii: "}")] { sound = Array("{\"a\":0}".utf8) }
            let damaged = RandomDocument(using: &random).text(.minified)
            let cutAt = Int.random(in: 0..<damaged.count, using: &random)
            let lines = [sound, Array(damaged[..<cutAt]), sound, sound]
            let input = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
            let text = String(decoding: sound, as: UTF8.self)
            #expect(Cut(input, limit: 1 << 20).sound.count { $0 == text } == 3, "seed \(Self.seed), input \(input)")
        }
    }

    /// Sound elements of an array survive damaged neighbours and missing or repeated separators.
    @Test func elementsSurviveOddSeparators() {
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<300 {
            let sound = (0..<4).map { "{\"n\":\($0)}" }
            var input = "["
            for text in sound {
                input += text + (["", " ", ",", ",,", "}", "},", " x,", "\n"].randomElement(using: &random) ?? "")
            }
            let found = Cut(input + "]").sound
            #expect(sound.allSatisfy(found.contains), "seed \(Self.seed), input \(input)")
        }
    }

    @Test func memoryIsBoundedByTheLimit() {
        var splitter = JSONSplitter(limit: 1000)
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 997)
        Array("{\"a\":\"".utf8).withUnsafeBytes { splitter.append($0) }
        var pieces = 0
        for _ in 0..<2000 {
            chunk.withUnsafeBytes { splitter.append($0) }
            let taken = splitter.takeAll()
            pieces += taken.pieces.count
            #expect(taken.bytes.count <= 1000)
        }
        #expect(pieces == 1)
    }

    // MARK: Inputs

    private func chunks(of count: Int, using random: inout SeededGenerator) -> [Int] {
        let largest = [1, 2, 3, 10, 100, count].randomElement(using: &random) ?? 1
        var chunks: [Int] = []
        var left = count
        while left > 0 {
            let size = Int.random(in: 1...max(1, min(largest, left)), using: &random)
            chunks.append(size)
            left -= size
        }
        return chunks
    }

    private func damagedInput(using random: inout SeededGenerator) -> [UInt8] {
        var input: [UInt8] = []
        let separator = ["\n", "\n", ",\n", "", " ", ","].randomElement(using: &random) ?? ""
        let isArray = Int.random(in: 0...3, using: &random) == 0
        if isArray { input += Array("[".utf8) }
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            var text = RandomDocument(using: &random).text(.allCases.randomElement(using: &random) ?? .minified)
            for _ in 0..<Int.random(in: 0...1, using: &random) where !text.isEmpty {
                let position = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: text.remove(at: position)
                case 1: text.insert(noiseByte(using: &random), at: position)
                default: text.removeSubrange(position...)
                }
            }
            input += text + Array(separator.utf8)
        }
        if isArray { input += Array("]".utf8) }
        return input
    }

    private func noise(using random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...80, using: &random)).map { _ in noiseByte(using: &random) }
    }

    private func noiseByte(using random: inout SeededGenerator) -> UInt8 {
        let likely = Array("{}[]{}[]\"\"\\,:\n\n\r\t 1x".utf8) + [0xEF, 0xBB, 0xBF, 0x00]
        return Int.random(in: 0...9, using: &random) == 0
            ? UInt8.random(in: 0...255, using: &random) : likely.randomElement(using: &random) ?? 0
    }

    private func isPunctuation(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: [0xEF, 0xBB, 0xBF])
            ? isPunctuation(bytes.dropFirst(3)) : bytes.allSatisfy { " \t\r\n,[]{}".utf8.contains($0) }
    }
}
