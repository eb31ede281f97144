import SignalboxConfig
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Bounds of messages from payloads, and the parts of a payload that a message omits.
@Suite struct PayloadMessageBoundTests {
    private let pipeline = TestPipeline()

    private static func trigger(_ id: String, _ conditions: String = #"{"type":"open"}"#, data: String = "") -> String {
        #"{"id":"\#(id)","type":"inapp","trigger_condition":[\#(conditions)],"data":{"type":"HTML","message":"x"\#(data)}}"#
    }

    private func event(_ triggers: [String]) throws -> Event {
        try pipeline.event(#"{"triggers":[\#(triggers.joined(separator: ","))]}"#).get()
    }

    private func repeated(_ text: String, _ count: Int) -> String {
        Array(repeating: text, count: count).joined(separator: ",")
    }

    @Test func registersTwoHundredOfAThousandTriggers() throws {
        let event = try event((0..<1000).map { Self.trigger("T\($0)") })
        #expect(event.messages.count == 200 && event.messages[199].id == "braze:T199")
        #expect(event.warnings == Array(repeating: "braze.message-not-registered", count: 100))
    }

    @Test func rejectsMoreConditionsThanTheEngineAccepts() throws {
        let condition = #"{"property_key":"p","comparator":11}"#
        func filtered(_ groups: String) -> String {
            Self.trigger(
                "F", #"{"type":"custom_event","data":{"event_name":"e","property_filters":[\#(groups)]}}"#)
        }
        let excessive = [
            Self.trigger("T", repeated(#"{"type":"open"}"#, 51)), Self.trigger("U", repeated(#"{"type":"x"}"#, 9999)),
            Self.trigger("V", #"{"type":"iam_click","data":{"id":"m","buttons":[\#(repeated("1", 51))]}}"#),
            filtered(repeated("[\(condition)]", 51)), filtered("[\(repeated(condition, 51))]"),
            Self.trigger(String(repeating: "i", count: 251)),
            Self.trigger(
                "W", #"{"type":"purchase","data":{"product_id":"\#(String(repeating: "p", count: 257))"}}"#),
        ]
        for trigger in excessive {
            let event = try event([trigger])
            #expect(event.messages.isEmpty)
            #expect(event.warnings.last == "braze.message-not-registered")
        }
        #expect(try event([filtered("[\(repeated(condition, 50))]")]).messages.count == 1)
    }

    @Test func compilesTwoHundredPatternsOfAPayload() throws {
        let pattern = #"{"property_key":"p","comparator":10,"property_value":"a{400}"}"#
        let groups = repeated("[\(repeated(pattern, 50))]", 2)
        let condition = #"{"type":"custom_event","data":{"event_name":"e","property_filters":[\#(groups)]}}"#
        let event = try event(["A", "B", "C"].map { Self.trigger($0, condition) })
        #expect(event.messages.map(\.id) == ["braze:A", "braze:B"])
        #expect(event.warnings == ["braze.message-not-registered"])
    }

    /// A payload is never rejected for the form of an identifier.
    @Test func writesIdentifiersInNormalizationFormC() throws {
        let id = try #require(try event([Self.trigger("e\u{301}")]).messages.first?.id)
        #expect(id.utf8.elementsEqual("braze:\u{e9}".utf8))
    }

    /// The event does not depend on its messages.
    @Test func rejectsContentBeyondTheForm() throws {
        let event = try event([
            Self.trigger("A", data: #","html":"\#(String(repeating: "x", count: FormBounds.content))""#),
            Self.trigger("B"),
        ])
        #expect(event.messages.map(\.id) == ["braze:B"])
        #expect(event.warnings == ["braze.message-not-registered"])
        try withEvent(event) {
            #expect($0["data"]?["kind"]?.string == "in-app-message")
            let warning = try #require($0["data"]?["warnings"]?.elements.first { _ in true })
            #expect(warning["message"]?.string?.hasPrefix("/content of the message: ") == true)
        }
    }

    /// Each value is one that the form of messages rejects and the engine accepts.
    @Test(arguments: [
        #""delay":1000000.001"#, #""re_eligibility":10000000001"#,
        #""trigger_condition":[{"type":"push_click","data":{"campaign_id":""}}]"#,
        #""trigger_condition":[{"type":"purchase","data":{"product_id":""}}]"#,
        #""trigger_condition":[{"type":"iam_click","data":{"id":"m","buttons":[""]}}]"#,
        #""trigger_condition":[{"type":"custom_event","data":{"event_name":"e","property_filters":[[{"property_key":"p","comparator":10,"property_value":""}]]}}]"#,
    ])
    func rejectsValuesBeyondTheForm(_ member: String) throws {
        let open = member.contains("trigger_condition") ? "" : #""trigger_condition":[{"type":"open"}],"#
        let payload = #"{"triggers":[{"id":"A",\#(open)\#(member),"data":{"type":"HTML","message":"x"}}]}"#
        let event = try pipeline.event(payload).get()
        #expect(event.messages.isEmpty)
        #expect(event.warnings.contains("braze.message-not-registered"))
    }

    /// A form has levels of its own around the content.
    @Test func readsBackContentOfEveryDepth() throws {
        var registered: Set<Bool> = []
        for depth in 115...127 {
            let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let page = #""page":{"type":"color_as_background","x":\#(nested)}"#
            for payload in [
                #"{"handler":"com.sourse.notification","title":"T","message":"M","custom_x":\#(nested)}"#,
                #"{"issuer":"Synerise","message-type":"m","content-type":"template-banner","content":{"campaign":{"hash_id":"H"},\#(page)}}"#,
            ] {
                guard let event = try? pipeline.event(payload).get() else { continue }
                if !event.messages.isEmpty { _ = try form(event) }
                let isRejected = event.warnings.contains(event.vendor.name + ".message-not-registered")
                #expect(event.messages.isEmpty == isRejected)
                registered.insert(!isRejected)
            }
        }
        #expect(registered == [true, false])
    }

    @Test func leavesOutAssetsWithLongNames() throws {
        let url = "https://cdn.example.com/" + String(repeating: "a", count: 1001)
        let event = try event([Self.trigger("A", data: #","image_url":"\#(url)""#)])
        #expect(try form(event).message.requirements.assets.isEmpty)
    }

    @Test func leavesOutAnActionThatTheConfigRefuses() throws {
        let config = try RoutedConfig(Array(#"{"actions":{"schemes":["https"]}}"#.utf8)).config
        var strict = pipeline
        strict.normalizer = Normalizer(
            chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key), registersMessages: true,
            actions: config.actions)
        let trigger = Self.trigger("A", data: #","click_action":"URI","uri":"shopapp://offer""#)
        let payload = #"{"triggers":[\#(trigger)]}"#
        #expect(try form(pipeline.event(payload).get()).action != nil)
        #expect(try form(strict.event(payload).get()).action == nil)
    }

    @Test func hashesTheTokenOfTheRequestInTheContent() throws {
        let token = "fcm-Registration:APA91bExampleTokenOfADevice_0123456789"
        let payload = #"""
            {"message": {"token": "\#(token)", "data": {"handler": "com.sourse.notification", "title": "T",
             "message": "M", "custom_owner": "\#(token)"}}}
            """#
        let form = try form(pipeline.event(payload).get())
        let content = String(decoding: try #require(form.content), as: UTF8.self)
        #expect(content.contains("sha256:") && !content.contains(token))
    }

    private func form(_ event: Event) throws -> MessageForm {
        let message = try #require(event.messages.first)
        return try MessageForm.read(message.body, id: message.id, revision: 1, registeredAt: 0)
    }

    /// Both ways of routing; one of them skips the parsing of events.
    @Test func routedEventsCarryTheMessages() throws {
        let event = try event([Self.trigger("A"), Self.trigger("B")])
        #expect(event.messages.count == 2)
        for match in ["{}", #"{"data":{"vendor":["braze"]}}"#] {
            let route = Route(
                name: "r", match: try Pattern(text: Array(match.utf8)), destinations: [DestinationName("i")])
            let table = RouteTable(routes: [route], fallback: [])
            let variants = EventVariants(tokens: TokenHash(key: TestPipeline.key))
            let parsed = table.route(.success(event), with: JSONParser(), variants: variants)
            #expect(try parsed.get().messages == event.messages)
            // A replay into a queue routes this way.
            let replayed = try table.route(
                event, at: PayloadPosition(), matching: nil, hasLastingID: true, with: JSONParser(), variants: variants)
            #expect(replayed?.messages == event.messages)
            let uniform = table.uniformDecision
            #expect((uniform != nil) == (match == "{}"))
            guard let uniform else { continue }
            #expect(try UniformRouting(uniform).route(.success(event)).get().messages == event.messages)
        }
    }

    @Test func acceptedPayloadsRegisterTheirMessages() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let intake = Intake(
                normalizer: pipeline.normalizer, routes: RouteTable(routes: []), queue: queue,
                now: { TestPipeline.time })
            let batch = #"[{"triggers":[\#(Self.trigger("A")),\#(Self.trigger("B"))]},{"aps":{"alert":"x"}}]"#
            for _ in 0..<2 {
                _ = try await intake.accept(Array(batch.utf8), from: SourceName("mobile"))
                let stored = try await queue.messages(after: nil, upTo: 9, includingWithdrawn: true)
                #expect(stored.map(\.registration.id) == ["braze:A", "braze:B"])
                #expect(stored.map(\.revision) == [1, 1])
            }
        }
    }

    @Test func explanationsShowTheMessagesOfAPayload() throws {
        func sections(_ payload: String) throws -> [String] {
            let explanation = Explanation(
                pipeline.normalizer, chain: VendorChain(), routes: RouteTable(routes: [], fallback: []),
                as: pipeline.reception)
            var sections: [String] = []
            try explanation.explain(Array(payload.utf8)) { sections.append($0) }
            return sections
        }
        let shown = try sections(#"{"triggers":[\#(Self.trigger("A"))]}"#)
        #expect(shown.count == 4)
        #expect(shown[2].hasPrefix("\nIn-app message braze:A\n{") && shown[2].contains("\"kind\" : \"fullscreen\""))
        #expect(try sections(#"{"aps":{"alert":"x"}}"#).count == 3)
    }
}
