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

    private let commands = ["help": [], "serve": [], "events": ["list", "show", "help"], "routes": []]

    @Test func unknownCommandsSuggestTheNearestOne() {
        #expect(
            KnownNames.unknownCommand(["evnts", "list"], among: commands)
                == "Unknown command \"evnts\". Did you mean \"events\"?")
        #expect(
            KnownNames.unknownCommand(["events", "lst"], among: commands)
                == "Unknown command \"events lst\". Did you mean \"events list\"?")
        #expect(KnownNames.unknownCommand(["frobnicate"], among: commands)?.contains("signalbox --help") == true)
    }

    @Test(arguments: [
        [], ["--version"], ["serve", "x"], ["events", "--help"], ["events", "show"], ["routes", "a.json"],
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
