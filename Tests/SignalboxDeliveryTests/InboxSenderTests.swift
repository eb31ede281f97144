import SignalboxGateway
import SignalboxNotification
import SignalboxStore
import Synchronization
import Testing

struct InboxSenderTests {
    /// The text that an inbox shows of one event. A class because the inbox and the test share it.
    private final class Shown: Sendable {
        private let texts = Mutex<[String]>([])
        func append(_ text: String) { texts.withLock { $0.append(text) } }
        var all: [String] { texts.withLock { $0 } }
    }

    private let body = #"{"subject":"braze/alert","id":"e1","data":{"vendor":"braze"}}"#

    private func shown(asJSON: Bool) async -> [String] {
        let shown = Shown()
        let inbox = InboxSender(color: false, asJSON: asJSON) { shown.append($0) }
        let lease = Lease(
            delivery: 1, event: "e1", destination: DestinationName("inbox"), attempts: 0, body: Array(body.utf8))
        _ = await inbox.send([lease])
        return shown.all
    }

    @Test func showsAnEventAsOneLineOfJSON() async {
        let texts = await shown(asJSON: true)
        #expect(texts == [body + "\n"])
    }

    @Test func showsAnEventAsTextOtherwise() async {
        let texts = await shown(asJSON: false)
        #expect(texts.count == 1 && texts.first?.hasPrefix("braze/alert") == true, "\(texts)")
    }
}
