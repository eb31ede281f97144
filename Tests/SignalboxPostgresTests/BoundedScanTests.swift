import Testing

@testable import SignalboxPostgres

/// The walk in parts finds what a walk row by row finds.
@Suite struct BoundedScanTests {
    /// Offers the rows `count...1`; `matches` of them match.
    private func scan(
        of count: Int, limit: Int, examining rows: Int, matches: (Int64) -> Bool
    ) -> (scan: BoundedScan, reads: Int) {
        var scan = BoundedScan(limit: limit, examining: rows, from: .now + .seconds(60))
        var reads = 0
        while let wanted = scan.wanted {
            let next = scan.last.map { $0 - 1 } ?? Int64(count)
            let found = stride(from: next, through: 1, by: -1).prefix(wanted).map { (id: $0, isMatch: matches($0)) }
            scan.add(found, of: wanted)
            reads += 1
        }
        return (scan, reads)
    }

    @Test func endsWithTheTable() {
        let found = scan(of: 5, limit: 9, examining: 100) { _ in true }.scan
        #expect(found.ids == [5, 4, 3, 2, 1] && found.next == nil && found.isComplete)
    }

    @Test func endsBeforeAFurtherMatch() {
        let found = scan(of: 10, limit: 2, examining: 100) { $0.isMultiple(of: 3) }.scan
        #expect(found.ids == [9, 6] && found.next == 4 && found.isComplete)
    }

    @Test func endsAfterItsRows() {
        let found = scan(of: 10, limit: 2, examining: 4) { $0 == 1 }.scan
        #expect(found.ids.isEmpty && found.next == 7 && !found.isComplete)
    }

    @Test func isCompleteWhenTheRowsEndWithTheTable() {
        let found = scan(of: 4, limit: 2, examining: 4) { $0 == 1 }.scan
        #expect(found.ids == [1] && found.next == nil && found.isComplete)
    }

    @Test func isCompleteWhenTheRowsEndWithTheLastRequestedMatch() {
        let found = scan(of: 10, limit: 1, examining: 4) { $0 == 7 }.scan
        #expect(found.ids == [7] && found.next == 7 && found.isComplete)
    }

    @Test func readsEachRowOfALongWalkInFewParts() {
        let found = scan(of: 60_000, limit: 1, examining: 50_000) { _ in false }
        #expect(found.scan.next == 10_001 && !found.scan.isComplete)
        #expect(found.reads < 12)
    }

    @Test func endsWhenItsTimeIsOver() {
        var scan = BoundedScan(limit: 1, examining: 50_000, from: .now - .seconds(60))
        let wanted = scan.wanted ?? 0
        scan.add((0..<Int64(wanted)).reversed().map { (id: $0, isMatch: false) }, of: wanted)
        #expect(scan.wanted == nil && !scan.isComplete && scan.next == 1)
    }
}
