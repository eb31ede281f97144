import SignalboxGateway
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct PictureSizeTests {
    @Test(arguments: try MediaFixture.all())
    func readsTheSizeOfPictures(_ file: MediaFixture) {
        let size = PictureSize(of: file.kind, in: file.bytes)
        guard file.kind.family == .image else { return #expect(size == nil) }
        #expect(size?.width == file.expected.width && size?.height == file.expected.height)
    }

    /// As its own kind and as other kinds. A header that was read decides: later bytes do not change the size, and a
    /// file whose first bytes are intact keeps its kind.
    @Test func laterBytesDoNotChangeTheSizeOfDamagedFiles() throws {
        let seed: UInt64 = 20_261_121
        var random = SeededGenerator(seed: seed)
        let files = try MediaFixture.all()
        for file in files where !file.bytes.isEmpty {
            for _ in 0..<200 {
                let bytes = Self.changed(file.bytes, &random)
                let kind = Int.random(in: 0..<4, using: &random) == 0 ? files.randomElement(using: &random)?.kind : nil
                let cut = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
                if let size = PictureSize(of: kind ?? file.kind, in: cut) {
                    #expect(size == PictureSize(of: kind ?? file.kind, in: bytes), "seed \(seed)")
                }
                let beginning = Array(bytes.prefix(MediaKind.telling))
                if beginning.elementsEqual(file.bytes.prefix(MediaKind.telling)) {
                    #expect(MediaKind(beginning: beginning) == file.kind, "seed \(seed)")
                }
                #expect(Self.bytesRead(of: kind ?? file.kind, in: bytes) <= 16 * 1024, "seed \(seed)")
            }
        }
    }

    /// The bytes that the reader asks for, at most 9 for each of 1,024 segments of a JPEG file.
    private static func bytesRead(of kind: MediaKind, in bytes: [UInt8]) -> Int {
        var count = 0
        _ = PictureSize(of: kind) { offset, length in
            count += length
            return Array(bytes.dropFirst(offset).prefix(length))
        }
        return count
    }

    /// Most changes are in words of the first bytes, where wrong lengths are.
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

    /// A colour profile, thumbnails and extended metadata may fill many segments of 64 KiB.
    @Test func findsTheSizeBehindLongMetadata() throws {
        let segment: [UInt8] = [0xFF, 0xE2, 0xFF, 0xFF] + [UInt8](repeating: 0xFF, count: 0xFFFF - 2)
        let metadata = Array([[UInt8]](repeating: segment, count: 5).joined())
        let file = [0xFF, 0xD8] + metadata + [0xFF, 0xC0, 0, 17, 8, 0, 7, 0, 9, 3]
        let size = PictureSize(of: .jpeg, in: file)
        #expect(size?.width == 9 && size?.height == 7)
    }

    @Test func endsInAFileOfFillBytes() {
        let picture = [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 128 * 1024)
        #expect(PictureSize(of: .jpeg, in: picture) == nil)
    }

    @Test func ignoresZeroAndMissingSizes() {
        let header = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        let size = PictureSize(of: .png, in: header + [0, 0, 0, 8, 0, 0, 0, 9])
        #expect(size?.width == 8 && size?.height == 9)
        for rest: [UInt8] in [[0, 0, 0, 0, 0, 0, 0, 9], [0, 0, 0, 8, 0, 0, 0]] {
            #expect(PictureSize(of: .png, in: header + rest) == nil)
        }
    }
}
