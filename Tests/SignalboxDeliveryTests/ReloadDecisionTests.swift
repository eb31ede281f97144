import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxStore
import Testing

@Suite struct ReloadDecisionTests {
    @Test func reportsAChangeOnceItsFilesAreComplete() {
        var changes = ConfigChanges(1)
        let settled = [1, 2, 3, 3, 3, 2, 2].map { changes.settled($0) }
        #expect(settled == [false, false, false, true, false, false, true])
    }

    @Test func ignoresAChangeThatIsUndone() {
        var changes = ConfigChanges("a")
        let settled = ["b", "a", "a"].map { changes.settled($0) }
        #expect(settled == [false, false, false])
    }

    @Test func needsARestartForAddressAndDirectory() {
        let former = GatewayConfig()
        var next = former
        #expect(!next.needsRestart(after: former))
        next.gateway.name = "other"
        #expect(!next.needsRestart(after: former))
        next.gateway.listen.http = "127.0.0.1:1"
        #expect(next.needsRestart(after: former))
        next.gateway.listen.http = nil
        next.gateway.listen.proxy = "127.0.0.1:1"
        #expect(next.needsRestart(after: former))
        next.gateway.listen.proxy = nil
        next.gateway.dataDirectory = "elsewhere"
        #expect(next.needsRestart(after: former))
        next.gateway.dataDirectory = nil
        next.gateway.store = GatewayConfig.Store()
        #expect(!next.needsRestart(after: former))
    }

    // MARK: Tables

    @Test func padsColumnsToTheLongestCell() {
        #expect(TextTable.lines([["A", "LONGER"], ["value", "x"]]) == "A      LONGER\nvalue  x\n")
        #expect(TextTable.row(["ab", "c", "d"], widths: [3, 0]) == "ab   c  d")
        #expect(TextTable.row(["longer", "c"], widths: [3], separator: " ") == "longer c")
    }

    @Test func listsDestinationsOfConfigAndQueue() {
        var gauges = DestinationGauges()
        (gauges.waiting, gauges.dead) = (2, 1)
        let lines = DestinationTable.lines(GatewayConfig(), [:], [DestinationName("gone"): gauges])
        #expect(
            lines == [
                "DESTINATION       STATE         WAITING   DEAD      SINCE / WHY",
                "gone              unknown       2         1         ",
            ])
    }
}
