import Foundation
import SignalboxConfig
import SignalboxNotification
import SignalboxServer
import Testing

@Suite struct DestinationViewTests {
    private func json(_ webhook: Destination.Webhook) -> String {
        let destination = Destination(name: DestinationName("chat"), endpoint: .webhook(webhook))
        return DestinationView(name: destination.name, config: destination, status: nil, gauges: nil).json(now: Date())
    }

    @Test func showsAURLWithoutItsQuery() {
        let text = json(Destination.Webhook(url: "https://chat.example/hook?key=hunter2", secrets: []))
        #expect(text.contains(#""url":"https://chat.example/hook""#))
        #expect(!text.contains("hunter2"))
    }

    @Test(arguments: [Destination.Format.slack, .teams, .discord])
    func showsOnlyTheHostOfAChatService(format: Destination.Format) {
        var webhook = Destination.Webhook(url: "https://chat.example/hooks/hunter2?sig=hunter2", secrets: [])
        webhook.format = format
        #expect(json(webhook).contains(#""url":"https://chat.example/[hidden]""#))
    }

    /// The URL that a reference leads to is a secret.
    @Test func showsAReferenceInsteadOfItsURL() {
        var webhook = Destination.Webhook(url: "", secrets: [])
        webhook.urlReference = .environment("CHAT_URL")
        #expect(json(webhook).contains(#""url":"env:CHAT_URL""#))
    }
}
