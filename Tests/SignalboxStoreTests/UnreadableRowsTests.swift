import Testing

@testable import SignalboxStore

struct UnreadableRowsTests {
    @Test func theFindingCountsTheRowsAndNamesTheFirstReason() {
        var rows = UnreadableRows()
        #expect(rows.finding("delivery") == nil)
        rows.add(DamagedValue("column due holds text"))
        #expect(rows.finding("delivery") == "1 delivery cannot be read, because column due holds text")
        rows.add(DamagedValue("another"))
        #expect(rows.finding("delivery") == "2 deliveries cannot be read, the first because column due holds text")
        #expect(
            rows.finding("row", of: "inapp_users")
                == "2 rows of inapp_users cannot be read, the first because column due holds text")
    }
}
