import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct MediaMeasuresTests {
    @Test(arguments: try MediaFixture.all())
    func aHeaderTellsSizeAndTime(_ file: MediaFixture) throws {
        let expected = MediaMeasures(
            width: file.expected.width, height: file.expected.height, milliseconds: file.expected.milliseconds)
        #expect(try MediaMeasures(in: file.bytes, kind: file.kind) == expected)
    }

    @Test(arguments: try MediaFixture.all())
    func anOpenFileTellsTheSameWhereverItStands(_ file: MediaFixture) throws {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file.path))
        defer { try? handle.close() }
        try handle.seekToEnd()
        let measures = try MediaMeasures(
            of: handle.fileDescriptor, kind: file.kind, bytes: file.bytes.count)
        #expect(try measures == MediaMeasures(in: file.bytes, kind: file.kind))
        #expect(try handle.offset() == UInt64(file.bytes.count))
    }

    @Test func whatCannotBeReadIsAnError() {
        #expect(throws: MediaError.self) { try MediaMeasures(of: -1, kind: .png, bytes: 100) }
    }

    /// Whatever kind it is taken for.
    @Test func aChangedFileNeitherTrapsNorKeepsUsForever() throws {
        let seed: UInt64 = 20_261_121
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let files = try MediaFixture.all()
        for file in files where !file.bytes.isEmpty {
            for _ in 0..<200 {
                let bytes = Self.changed(file.bytes, &random)
                let kind = Int.random(in: 0..<4, using: &random) == 0 ? files.randomElement(using: &random)?.kind : nil
                let measures = try MediaMeasures(in: bytes, kind: kind ?? file.kind)
                #expect((measures.width == nil) == (measures.height == nil))
                for number in [measures.width, measures.height, measures.milliseconds] { #expect(number ?? 1 > 0) }
                let found = MediaKind(beginning: Array(bytes.prefix(MediaKind.telling)))
                #expect(MediaKind.allCases.contains(found))
            }
        }
    }

    /// Lengths that lie are what readers trip over: most changes are in words of the first bytes.
    private static func changed(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        let near = Int.random(in: 0..<3, using: &random) > 0 ? min(bytes.count, 200) : bytes.count
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let place = Int.random(in: 0..<near, using: &random)
            let word: [UInt8] =
                switch Int.random(in: 0..<5, using: &random) {
                case 0: [0, 0, 0, 0]
                case 1: [0xFF, 0xFF, 0xFF, 0xFF]
                case 2: [0x7F, 0xFF, 0xFF, 0xFF]
                case 3: [0, 0, 0, 1]
                default: [UInt8.random(in: 0...255, using: &random)]
                }
            for (offset, byte) in word.enumerated() where place + offset < bytes.count { bytes[place + offset] = byte }
        }
        if Int.random(in: 0..<5, using: &random) == 0 {
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
        }
        return bytes
    }

    /// Boxes without content, one after the other, for as long as somebody reads: a film of 8 MB would be a million.
    @Test func aFileMadeToBeWalkedThroughEndsSoon() throws {
        let start = [0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 0, 0]
        let box = [0, 0, 0, 8] + Array("free".utf8)
        let film = start + Array(repeatElement(box, count: 1_000_000).joined())
        #expect(try MediaMeasures(in: film, kind: .mp4) == MediaMeasures())
        let picture = [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 8_000_000)
        #expect(try MediaMeasures(in: picture, kind: .jpeg) == MediaMeasures())
    }

    @Test func aSizeOrTimeThatIsNoneIsNotTold() throws {
        let header = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        #expect(try MediaMeasures(in: header + [0, 0, 0, 0, 0, 0, 0, 9], kind: .png) == MediaMeasures())
        #expect(
            try MediaMeasures(in: header + [0, 0, 0, 8, 0, 0, 0, 9], kind: .png) == MediaMeasures(width: 8, height: 9))
        #expect(try MediaMeasures(in: header + [0, 0, 0, 8, 0, 0, 0], kind: .png) == MediaMeasures())
    }
}
