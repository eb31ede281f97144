import SignalboxGateway
import Testing

@Suite struct ReplayTallyTests {
    private var tally: ReplayTally {
        var tally = ReplayTally()
        tally.add(vendor: "mce", routes: ["all", "alerts"], warnings: ["mce.x"])
        tally.add(vendor: "braze", routes: [], warnings: ["mce.x", "b.y"], isRepeat: true)
        tally.add(vendor: "mce", routes: ["all"], warnings: [])
        return tally
    }

    @Test func theTableIsByVendorAndRouteAndByWarning() {
        #expect(
            tally.table(rejected: 4) == """
                VENDOR  ROUTE   EVENTS
                braze   (none)  1
                mce     alerts  1
                mce     all     2
                WARNING  COUNT
                mce.x    2
                b.y      1
                3 events, 4 rejected, 1 already accepted

                """)
        #expect(ReplayTally().table(rejected: 0) == "VENDOR  ROUTE  EVENTS\n0 events, 0 rejected\n")
    }

    @Test func printsTheTablesAsJSON() {
        #expect(
            String(decoding: tally.json(rejected: 4), as: UTF8.self)
                == #"{"events":3,"rejected":4,"repeats":1,"routes":[{"vendor":"braze","route":"(none)","events":1},{"vendor":"mce","route":"alerts","events":1},{"vendor":"mce","route":"all","events":2}],"warnings":[{"code":"mce.x","count":2},{"code":"b.y","count":1}]}"#
                + "\n")
    }

    @Test func addsTallies() {
        var sum = tally
        sum.add(tally)
        #expect(sum.events == 6 && sum.repeats == 2)
        #expect(sum.rows.map(\.events) == [2, 2, 4])
        #expect(sum.warningRows.map(\.events) == [4, 2])
    }

    @Test func countsNamesBeyondTheLimitTogether() {
        var tally = ReplayTally()
        for number in 0..<10_050 { tally.add(vendor: "v\(number)", routes: [], warnings: ["w\(number)"]) }
        #expect(tally.rows.count == 10_001)
        #expect(tally.rows.first { $0.vendor == "(others)" }?.events == 50)
        #expect(tally.warningRows.first?.code == "(others)")
    }
}
