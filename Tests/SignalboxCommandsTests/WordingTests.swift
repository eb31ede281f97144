import Foundation
import SignalboxCommands
import SignalboxNotification
import SignalboxStore
import Testing

struct WordingTests {
    @Test func countsAreSingularAndPlural() {
        #expect(Counted.words(1, "delivery") == "1 delivery")
        #expect(Counted.words(0, "delivery") == "0 deliveries")
        #expect(Counted.words(2, "delivery") == "2 deliveries")
        #expect(Counted.words(2, "file") == "2 files")
        #expect(Counted.words(2, "key") == "2 keys")
        #expect(Counted.words(1, "case") == "1 case")
    }

    @Test func unknownNamesSuggestTheNearestOne() {
        #expect(
            KnownNames.refusal("vendor", "Braze", among: ["mce", "braze"], else: "None.")
                == "Unknown vendor \"Braze\". Did you mean \"braze\"?")
        #expect(KnownNames.refusal("vendor", "zzz", among: ["braze"], else: "None.") == "Unknown vendor \"zzz\". None.")
    }

    private let commands = ["help": [], "serve": [], "events": ["list", "show"], "routes": []]

    @Test func unknownCommandsSuggestTheNearestOne() {
        #expect(
            KnownNames.unknownCommand(["evnts", "list"], among: commands)
                == "Unknown command \"evnts\". Did you mean \"events\"?")
        #expect(
            KnownNames.unknownCommand(["events", "lst"], among: commands)
                == "Unknown command \"events lst\". Did you mean \"events list\"?")
        #expect(
            KnownNames.unknownCommand(["help", "sevre"], among: commands)
                == "Unknown command \"sevre\". Did you mean \"serve\"?")
        #expect(
            KnownNames.unknownCommand(["help", "events", "shwo"], among: commands)
                == "Unknown command \"events shwo\". Did you mean \"events show\"?")
        for arguments in [["events", "help"], ["events", "help", "show"]] {
            #expect(
                KnownNames.unknownCommand(arguments, among: commands)
                    == "Unknown command \"events help\". Did you mean \"help events\"?")
        }
        #expect(KnownNames.unknownCommand(["frobnicate"], among: commands)?.contains("signalbox --help") == true)
    }

    @Test(arguments: [
        [], ["--version"], ["serve", "x"], ["events", "--help"], ["events", "show"], ["routes", "a.json"],
        ["help"], ["help", "serve"], ["help", "events", "show"],
    ])
    func commandsAndTheirArgumentsAreNotUnknown(_ arguments: [String]) {
        #expect(KnownNames.unknownCommand(arguments, among: commands) == nil)
    }

    @Test func aPurgeOfUndeliveredDeliveriesNeedsConsent() {
        #expect(BulkConsent.purge(undelivered: 0, isForced: false, isTerminal: false) == .given)
        #expect(BulkConsent.purge(undelivered: 3, isForced: true, isTerminal: false) == .given)
        #expect(
            BulkConsent.purge(undelivered: 1, isForced: false, isTerminal: true)
                == .ask("1 of these deliveries was never delivered. Remove them permanently? [y/N] "))
        guard case .refuse(let sentence) = BulkConsent.purge(undelivered: 3, isForced: false, isTerminal: false) else {
            Issue.record("A purge began without consent.")
            return
        }
        #expect(sentence.contains("3 of these deliveries were never delivered, so none was removed. Add --yes"))
    }

    @Test func namedDeliveriesThatAreNotChangedHaveAReason() {
        func record(_ id: Int64, _ state: DeliveryRecord.State) -> DeliveryRecord {
            DeliveryRecord(
                id: id, event: "e", subject: "mce/alert", destination: DestinationName("crm"), state: state,
                attempts: 1,
                due: .distantPast, notBefore: nil, notAfter: nil, acceptedAt: .distantPast, last: nil)
        }
        var (held, running) = (record(4, .waiting), record(5, .waiting))
        (held.mediaUntil, running.isInProgress) = (.distantFuture, true)
        let found = [record(1, .dead), record(2, .delivered), record(3, .expired), held, running]
        let retry = UnchangedDeliveries(
            .retry, named: [99, 2, 1, 3, 4, 5, 98], found: found, selected: [1, 2, 3, 4, 5])
        #expect(
            retry.sentence("requeued")
                == "Not requeued: 2 (delivered); 3 (expired); 4 (waiting for files); 98, 99 (unknown).")
        let purge = UnchangedDeliveries(.purge, named: [1, 2, 5], found: found, selected: [2, 5])
        #expect(
            purge.sentence("removed") == "Not removed: 1 (excluded by the conditions); 5 (an attempt is in progress).")
        #expect(UnchangedDeliveries(.purge, named: [2], found: found, selected: [2]).sentence("removed") == nil)
    }

    @Test func aRetryAsksOnlyPeopleWhoNamedNoDelivery() {
        #expect(
            BulkConsent.retry(2, isNamed: false, isForced: false, isTerminal: true)
                == .ask("Requeue 2 deliveries? [y/N] "))
        #expect(BulkConsent.retry(1, isNamed: false, isForced: false, isTerminal: true) == .given)
        #expect(BulkConsent.retry(2, isNamed: true, isForced: false, isTerminal: true) == .given)
        #expect(BulkConsent.retry(2, isNamed: false, isForced: true, isTerminal: true) == .given)
        #expect(BulkConsent.retry(2, isNamed: false, isForced: false, isTerminal: false) == .given)
    }
}
