import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

@Suite struct ReplayOptionsTests {
    private func conflict(_ change: (inout ReplayOptions) -> Void, hasDataDirectory: Bool = false) -> String? {
        var options = ReplayOptions()
        options.files = ["in.ndjson"]
        change(&options)
        return options.conflict(config: "routes.json", hasDataDirectory: hasDataDirectory)
    }

    @Test func acceptsOptionsThatFitTogether() {
        #expect(conflict { _ in } == nil)
        #expect(
            conflict {
                $0.resume = "state"; $0.rejects = "rejects"; $0.rate = 5
            } == nil)
        #expect(
            conflict {
                $0.envelope.time = JSONPointer("/t")
                $0.speed = 2
                $0.selection.since = "1h"
            } == nil)
    }

    @Test func rejectsTimesWithoutAPosition() {
        #expect(conflict { $0.speed = 2 }?.hasPrefix("--speed needs recorded times") == true)
        #expect(conflict { $0.selection.until = "1h" }?.hasPrefix("--until needs recorded times") == true)
    }

    @Test func rejectsSendingOptionsInADryRun() {
        #expect(
            conflict {
                $0.isDryRun = true; $0.rate = 5
            }?.hasPrefix("--rate applies to sending") == true)
        #expect(
            conflict {
                $0.isDryRun = true; $0.address = "http://a"
            }?.hasPrefix("--to applies to sending") == true)
    }

    @Test func rejectsQueueOptionsForARunningGateway() {
        #expect(conflict({ $0.address = "http://a" }, hasDataDirectory: true)?.hasPrefix("--data-dir") == true)
        #expect(
            conflict {
                $0.address = "http://a"
                $0.envelope.token = JSONPointer("/token")
            }?.hasPrefix("--token-at") == true)
    }

    @Test func resumesStandardInput() {
        #expect(conflict { $0.resume = "state" } == nil)
        #expect(
            conflict {
                $0.resume = "state"; $0.files = ["-"]
            } == nil)
    }

    @Test func rejectsAnOutputThatIsAnotherFileOfTheRun() async throws {
        try await withTemporaryDirectory { directory in
            let (input, link) = (directory + "/in.ndjson", directory + "/link")
            try Data("{}".utf8).write(to: URL(fileURLWithPath: input))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: input)
            #expect(FileIdentity(input) == FileIdentity(link))
            #expect(FileIdentity(directory + "/./in.ndjson") == FileIdentity(input))
            #expect(FileIdentity(input) != FileIdentity(directory + "/other"))
            #expect(
                conflict {
                    $0.files = [input]; $0.rejects = link
                } == "--rejects names one of the inputs.")
            #expect(conflict { $0.resume = "routes.json" } == "--resume names the config.")
            #expect(
                conflict {
                    $0.resume = "state"; $0.rejects = "./state"
                }
                    == "--resume and --rejects name the same file.")
        }
    }

    @Test func identifiesARunByItsOptions() {
        var options = ReplayOptions()
        options.rate = 5
        options.selection.vendors = ["mce", "braze", "mce"]
        #expect(options.identity == ["vendor": "braze, mce"])
        options.queue = ("data-dir", "/var/lib/signalbox")
        #expect(options.identity == ["vendor": "braze, mce", "data-dir": "/var/lib/signalbox"])
        options.queue = nil
        options.address = "http://a"
        #expect(options.identity == ["vendor": "braze, mce", "to": "http://a", "rate": "5.0"])
    }

    // MARK: Selection

    private func objection(_ change: (inout SelectionRequest) -> Void) -> String? {
        var request = SelectionRequest()
        change(&request)
        do throws(ReplayError) {
            _ = try request.selection(now: Date(timeIntervalSince1970: 1_795_210_140))
        } catch .refused(let sentence) {
            return sentence
        } catch {
            Issue.record("\(error)")
        }
        return nil
    }

    @Test func reportsAnInvalidSelection() {
        #expect(objection { _ in } == nil)
        #expect(
            objection {
                $0.since = "2h"; $0.until = "1h"; $0.filter = #"{"data":{"kind":["alert"]}}"#
            } == nil)
        #expect(objection { $0.since = "soon" }?.hasPrefix("Invalid time \"soon\"") == true)
        #expect(
            objection {
                $0.since = "1h"; $0.until = "2h"
            }?.hasPrefix("--since is not before") == true)
        #expect(objection { $0.limit = 0 }?.hasPrefix("Invalid --limit 0") == true)
        #expect(objection { $0.filter = "{" }?.hasPrefix("--filter") == true)
    }

    // MARK: Outcomes

    private func counts(_ states: [DeliveryRecord.State: Int], scheduled: Int = 0) -> DeliveryOutcomes.Counts {
        .init(states: [DestinationName("crm"): states], scheduled: scheduled)
    }

    @Test func countsOwnEndsNextToOtherGateways() {
        let own: [DestinationName: [DeliveryRecord.State: Int]] = [
            DestinationName("crm"): [.delivered: 4], DestinationName("erp"): [.dead: 1, .expired: 1],
        ]
        // Others delivered 90 events of their own, and three of the run.
        let outcomes = DeliveryOutcomes(
            own: own, appended: [DestinationName("crm"): 9, DestinationName("erp"): 2], scheduled: 1,
            continues: false, after: counts([.delivered: 97, .dead: 8, .waiting: 2], scheduled: 1))
        #expect(outcomes.failed == 2)
        #expect(
            outcomes.text(json: false)
                == "4 delivered, 1 dead, at most 2 waiting for their next attempt (1 of them scheduled), 1 expired, "
                + "3 ended by other gateways\n")
        #expect(
            outcomes.text(json: true)
                == #"{"delivered":4,"dead":1,"expired":1,"waiting":2,"scheduled":1,"others":3}"# + "\n")
    }

    @Test func waitingDeliveriesOfOthersAreNoneOfTheRun() {
        let outcomes = DeliveryOutcomes(
            own: [DestinationName("crm"): [.delivered: 5]], appended: [DestinationName("crm"): 5],
            scheduled: 0, continues: false, after: counts([.waiting: 40]))
        #expect(outcomes.failed == 0)
        #expect(outcomes.text(json: false) == "5 delivered, 0 dead, 0 waiting for their next attempt\n")
    }

    /// The process also sent deliveries of other senders, to another destination.
    @Test func endsAtOneDestinationHideNoneThatWaitForAnother() {
        let outcomes = DeliveryOutcomes(
            own: [DestinationName("erp"): [.delivered: 10]], appended: [DestinationName("crm"): 3], scheduled: 0,
            continues: false, after: counts([.waiting: 3]))
        #expect(outcomes.failed == 3)
    }

    @Test func scheduledDeliveriesOfOthersHideNoneOfTheRun() {
        let outcomes = DeliveryOutcomes(
            own: [:], appended: [DestinationName("crm"): 3], scheduled: 1, continues: false,
            after: counts([.waiting: 9], scheduled: 6))
        #expect(outcomes.failed == 2)
    }

    /// A process that was killed may have left any of them.
    @Test func anyWaitingDeliveryMayBeOfARunThatContinues() {
        let outcomes = DeliveryOutcomes(
            own: [:], appended: [:], scheduled: 0, continues: true, after: counts([.waiting: 40]))
        #expect(outcomes.failed == 40)
        #expect(outcomes.text(json: false) == "0 delivered, 0 dead, at most 40 waiting for their next attempt\n")
    }

    @Test func countsScheduledDeliveriesAsNoFailure() {
        let outcomes = DeliveryOutcomes(
            before: counts([.delivered: 3, .waiting: 1]),
            after: counts([.delivered: 5, .dead: 1, .waiting: 4, .expired: 2], scheduled: 2))
        #expect(outcomes.failed == 3)
        #expect(
            outcomes.text(json: false)
                == "2 delivered, 1 dead, 4 waiting for their next attempt (2 of them scheduled), 2 expired\n")
        #expect(
            outcomes.text(json: true)
                == #"{"delivered":2,"dead":1,"expired":2,"waiting":4,"scheduled":2}"# + "\n")
    }

    /// Deliveries of an earlier run were sent, and as many of this run failed; or a killed process appended those that
    /// wait.
    @Test func countsEveryWaitingDelivery() {
        let outcomes = DeliveryOutcomes(
            before: counts([.waiting: 5], scheduled: 1), after: counts([.delivered: 3, .waiting: 5], scheduled: 1))
        #expect(outcomes.failed == 4)
        #expect(
            outcomes.text(json: false)
                == "3 delivered, 0 dead, 5 waiting for their next attempt (1 of them scheduled)\n")
    }
}
