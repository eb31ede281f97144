import SignalboxGateway
import Testing

@Suite struct SettledBytesTests {
    private func position(_ input: Int, _ offset: Int) -> InputPosition { InputPosition(input: input, offset: offset) }

    @Test func blocksOnlyReadAreNotSettled() {
        var bytes = SettledBytes()
        bytes.read(upTo: position(0, 1000), bytes: 1000)
        #expect(bytes.settle(upTo: position(0, 0)) == 0)
        #expect(bytes.settle(upTo: position(0, 250)) == 250)
        #expect(bytes.settle(upTo: position(0, 1000)) == 1000)
    }

    /// 4,000 bytes of text lie there as 1,000.
    @Test func countsACompressedBlockInProportion() {
        var bytes = SettledBytes()
        bytes.read(upTo: position(0, 4000), bytes: 1000)
        bytes.read(upTo: position(0, 6000), bytes: 1500)
        #expect(bytes.settle(upTo: position(0, 1000)) == 250)
        #expect(bytes.settle(upTo: position(0, 5000)) == 1250)
        #expect(bytes.settle(upTo: position(0, 6000)) == 1500)
    }

    @Test func anotherInputBeginsBehindTheOneBefore() {
        var bytes = SettledBytes()
        bytes.read(upTo: position(0, 300), bytes: 300)
        bytes.read(upTo: position(1, 100), bytes: 400)
        #expect(bytes.settle(upTo: position(0, 150)) == 150)
        #expect(bytes.settle(upTo: position(1, 0)) == 300)
        #expect(bytes.settle(upTo: position(1, 50)) == 350)
        #expect(bytes.settle(upTo: position(2, 0)) == 400)
    }

    @Test func aRunThatGoesOnBeginsWhereItWas() {
        var bytes = SettledBytes(from: position(1, 500), bytes: 800)
        #expect(bytes.settle(upTo: position(1, 500)) == 800)
        bytes.read(upTo: position(1, 1500), bytes: 1800)
        #expect(bytes.settle(upTo: position(1, 600)) == 900)
        // A position settled before does not move the result back.
        #expect(bytes.settle(upTo: position(0, 10)) == 800)
        #expect(bytes.settle(upTo: position(1, 1500)) == 1800)
    }

    @Test func emptyBlocksAreSettledToo() {
        var bytes = SettledBytes()
        bytes.read(upTo: position(0, 0), bytes: 10)
        #expect(bytes.settle(upTo: position(0, 0)) == 10)
    }
}
