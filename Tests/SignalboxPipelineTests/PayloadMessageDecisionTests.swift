import SignalboxInApp
import SignalboxNotification
import Testing

@testable import SignalboxGateway

/// Messages of payloads through the engine: registered from their own bytes, then triggered.
@Suite struct PayloadMessageDecisionTests {
    private static let now = Timestamp(TestPipeline.time).milliseconds

    /// A device that asks the engine, and keeps what it answers.
    private struct Device {
        let messages: ActiveMessages
        var state = InAppState(user: UserState(id: "ann"), device: DeviceState(id: "phone"), offers: [])
        var client = ClientState(foreground: true, screen: "home")

        init(_ payload: String) throws {
            let event = try TestPipeline().event(payload).get()
            #expect(!event.messages.isEmpty)
            messages = ActiveMessages(
                MessageIndex(
                    try event.messages.map {
                        try MessageForm.read($0.body, id: $0.id, revision: 1, registeredAt: now).definition()
                    }))
        }

        /// The id of the message that is offered.
        mutating func trigger(_ event: TriggerEvent, after span: Span = 0) -> SignalboxInApp.MessageID? {
            let request = TriggerRequest(device: "phone", user: "ann", event: event, client: client, ticket: "\(span)")
            let decision = InAppEngine(policy: Policy()).decide(request, state, messages: messages, now: now + span)
            state = decision.state
            return decision.answer.offer?.message
        }
    }

    @Test func brazeOffersTheHigherPriorityWhoseFilterMatches() throws {
        func trigger(_ id: String, _ priority: Int, _ least: Int) -> String {
            #"""
            {"id": "\#(id)", "type": "inapp", "priority": \#(priority), "trigger_condition": [{"type":
             "custom_event_property", "data": {"event_name": "cart", "property_filters": [[{"property_key": "total",
             "property_type": "number", "comparator": 4, "property_value": \#(least)}]]}}],
             "data": {"type": "HTML", "message": "x"}}
            """#
        }
        let payload = #"{"triggers": [\#(trigger("low", 1, 0)), \#(trigger("high", 9, 100))]}"#
        var rich = try Device(payload)
        #expect(rich.trigger(.event(name: "cart", properties: ["total": .number(100)])) == "braze:high")
        var poor = try Device(payload)
        #expect(poor.trigger(.event(name: "cart", properties: nil)) == nil)
        #expect(poor.trigger(.event(name: "cart", properties: ["total": .number(99.5)]), after: 1) == "braze:low")
    }

    @Test func mceOffersABannerForItsKeywordToAClientWithItsTemplate() throws {
        let payload = #"""
            {"aps": {"content-available": 1}, "inApp": {"rules": ["home", "cart"], "maxViews": 1, "template": "card",
             "content": {"text": "x"}, "triggerDate": "2026-01-01T00:00:00Z"}, "mce": {"mailingId": 7}}
            """#
        var device = try Device(payload)
        device.client.templates = ["default"]
        #expect(device.trigger(.rule("cart")) == nil)
        device.client.templates = ["default", "card"]
        #expect(device.trigger(.rule("wallet"), after: 1) == nil)
        #expect(device.trigger(.rule("cart"), after: 2) == "mce:7")
        let year: Span = 366 * 86_400_000
        var late = try Device(payload)
        #expect(late.trigger(.rule("cart"), after: year) == nil)
    }

    @Test func sourseWaitsForItsEmbargoAndNeedsTheTopic() throws {
        let payload = #"""
            {"message": {"condition": "'news' in topics && 'sourse_sdk_integrated' in topics", "data": {"handler":
             "com.sourse.notification", "title": "T", "message": "M", "isSmartNotification": "0", "embargoDate":
             "2026-11-21T00:00:00Z"}}}
            """#
        let day: Span = 86_400_000
        var other = try Device(payload)
        #expect(other.trigger(.sessionStart, after: day) == nil)
        var device = try Device(payload)
        device.client.topics = ["news", "sourse_sdk_integrated"]
        #expect(device.trigger(.sessionStart) == nil)
        #expect(device.trigger(.poll, after: day)?.hasPrefix("sourse:") == true)
        var elsewhere = try Device(payload)
        elsewhere.client.topics = ["sports", "sourse_sdk_integrated"]
        #expect(elsewhere.trigger(.poll, after: day) == nil, "not subscribed to news")
        var late = try Device(payload)
        late.client.topics = ["news", "sourse_sdk_integrated"]
        #expect(late.trigger(.sessionStart, after: 30 * day) == nil)
    }

    @Test func syneriseShowsAMandatoryUpgradeOnceAndATriggerBannerAtItsEvent() throws {
        func push(_ members: String, closable: Bool) -> String {
            #"""
            {"aps": {"content-available": 1}, "issuer": "Synerise", "message-type": "dynamic-content", "content-type":
             "template-banner", "content": {"campaign": {"hash_id": "H"}, \#(members) "page": {"type":
             "color_as_background", "close_button": {"is_enabled": \#(closable)}}}}
            """#
        }
        var upgrade = try Device(push("", closable: false))
        #expect(upgrade.trigger(.poll) == "synerise:H")
        var banner = try Device(push(#""trigger": "cart","#, closable: true))
        #expect(banner.trigger(.sessionStart) == nil)
        #expect(banner.trigger(.event(name: "cart", properties: nil), after: 1) == "synerise:H")
    }
}
