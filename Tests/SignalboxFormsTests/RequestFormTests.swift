import Foundation
import SignalboxGateway
import SignalboxInApp
import Testing

@Suite struct RequestFormTests {
    private func trigger(_ text: String) throws(FormFault) -> TriggerRequest {
        try TriggerForm.read(Array(text.utf8), ticket: "of_1").request
    }

    private func fault<Form>(_ read: () throws(FormFault) -> Form) -> FormFault? {
        do throws(FormFault) {
            _ = try read()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Triggers

    @Test func readsTheTriggerOfTheIssue() throws {
        let (request, explain) = try TriggerForm.read(
            Array(
                #"""
                { "triggerId": "7b1c", "device": "d-1", "user": "u-9",
                  "event": { "type": "event", "name": "cart_opened", "properties": { "total": 42.5 } },
                  "state": { "foreground": true, "screen": "cart", "orientation": "portrait", "templates": ["modal"] },
                  "explain": true }
                """#.utf8), ticket: "of_1")
        var client = ClientState(foreground: true, screen: "cart")
        client.orientation = .portrait
        client.templates = ["modal"]
        #expect(
            request
                == TriggerRequest(
                    id: "7b1c", device: "d-1", user: "u-9",
                    event: .event(name: "cart_opened", properties: ["total": .number(42.5)]), client: client,
                    ticket: "of_1"))
        #expect(explain)
    }

    @Test(arguments: [
        (#"{"type": "sessionStart"}"#, TriggerEvent.sessionStart), (#"{"type": "test"}"#, .test),
        (#"{"type": "poll"}"#, .poll), (#"{"type": "pushOpen"}"#, .pushOpen(campaign: nil)),
        (#"{"type": "pushOpen", "campaign": "c"}"#, .pushOpen(campaign: "c")),
        (#"{"type": "event", "name": "e"}"#, .event(name: "e", properties: nil)),
        (#"{"type": "event", "name": "e", "properties": {}}"#, .event(name: "e", properties: [:])),
        (#"{"type": "purchase", "product": "p"}"#, .purchase(product: "p", properties: nil)),
        (#"{"type": "messageClick", "message": "m"}"#, .messageClick(message: "m", button: nil)),
        (#"{"type": "messageClick", "message": "m", "button": "b"}"#, .messageClick(message: "m", button: "b")),
        (#"{"type": "screen", "name": "s"}"#, .screen("s")), (#"{"type": "rule", "keyword": "k"}"#, .rule("k")),
        (#"{"type": "show", "message": "m"}"#, .show("m")),
    ])
    func readsEveryEvent(_ json: String, _ event: TriggerEvent) throws {
        #expect(try trigger(#"{"device": "d", "event": \#(json)}"#).event == event)
    }

    @Test(arguments: [
        (#"{"b": 1}"#, "/event/properties/p"), ("{}", "/event/properties/p"),
        (#"["a", {"b": 1}]"#, "/event/properties/p/1"),
    ])
    func anObjectThatIsNotADateIsNotAProperty(_ value: String, _ pointer: String) {
        let fault = fault { () throws(FormFault) in
            try trigger(#"{"device": "d", "event": {"type": "event", "name": "e", "properties": {"p": \#(value)}}}"#)
        }
        #expect(fault?.code == "wrong-type" && fault?.pointer == pointer)
        #expect(fault?.detail == "Expected a boolean, a number, a string, {\"date\": …} or a list of those.")
    }

    @Test func readsPropertiesOfEveryType() throws {
        let event = try trigger(
            #"""
            {"device": "d", "event": {"type": "event", "name": "e", "properties": {"flag": true, "number": 1,
             "text": "", "date": {"date": "1970-01-01T00:00:01+00:00"}, "list": ["a", 2, false]}}}
            """#
        ).event
        #expect(
            event.properties == [
                "flag": .boolean(true), "number": .number(1), "text": .text(""), "date": .date(1000),
                "list": .list([.text("a"), .number(2), .boolean(false)]),
            ])
    }

    @Test func readsTheWholeStateOfAClient() throws {
        let client = try trigger(
            #"""
            {"device": "d", "user": null, "event": {"type": "poll"}, "deviceTime": "2026-11-22T12:00:00Z",
             "state": {"foreground": false, "screen": "s", "orientation": "landscape", "platform": "web",
              "templates": [], "assets": {"https://x.example/a.png": "ready", "b": "failed"}, "busy": true,
              "blocks": true, "blockedVendors": ["synerise"], "visible": ["of_1"], "topics": ["t"],
              "smartDelay": false, "zone": "Europe/Warsaw"}}
            """#
        ).client
        var expected = ClientState(foreground: false, screen: "s")
        expected.orientation = .landscape
        expected.platform = .web
        expected.templates = []
        expected.assets = ["https://x.example/a.png": .ready, "b": .failed]
        expected.isBusy = true
        expected.blocks = true
        expected.blockedVendors = ["synerise"]
        expected.visible = ["of_1"]
        expected.topics = ["t"]
        expected.smartDelay = false
        expected.zone = TimeZone(identifier: "Europe/Warsaw")
        #expect(client == expected)
        #expect(try trigger(#"{"device": "d", "event": {"type": "poll"}, "state": {}}"#).client == ClientState())
    }

    @Test func aPropertyThatIsNullIsAbsent() throws {
        let nulls = #"{"device": "d", "event": {"type": "event", "name": "e", "properties": {"a": null, "b": 1}}}"#
        #expect(try trigger(nulls).event == .event(name: "e", properties: ["b": .number(1)]))
        let none = #"{"device": "d", "event": {"type": "event", "name": "e", "properties": null}}"#
        #expect(try trigger(none).event == .event(name: "e", properties: nil))
    }

    @Test(arguments: [
        (#"{"event": {"type": "poll"}}"#, "missing", "/device"),
        (#"{"device": "", "event": {"type": "poll"}}"#, "empty", "/device"),
        (#"{"device": "d"}"#, "missing", "/event"), (#"{"device": "d", "event": {}}"#, "missing", "/event/type"),
        (#"{"device": "d", "event": "poll"}"#, "wrong-type", "/event"),
        (#"{"device": "d", "event": {"type": "tap"}}"#, "invalid-value", "/event/type"),
        (#"{"device": "d", "event": {"type": "screen", "keyword": "k"}}"#, "unknown-member", "/event/keyword"),
        (#"{"device": "d", "user": "anonymous:x", "event": {"type": "poll"}}"#, "contradictory", "/user"),
        (#"{"device": "d", "device": "e", "event": {"type": "poll"}}"#, "repeated-member", "/device"),
        (#"{"device": "d", "event": {"type": "poll"}, "state": {"zone": "EST"}}"#, "unknown-zone", "/state/zone"),
        (
            #"{"device": "d", "event": {"type": "poll"}, "state": {"zone": "/etc/passwd"}}"#, "unknown-zone",
            "/state/zone"
        ),
        (
            #"{"device": "d", "event": {"type": "poll"}, "state": {"assets": {"a/b": "there"}}}"#, "invalid-value",
            "/state/assets/a~1b"
        ),
        (
            #"{"device": "d", "event": {"type": "event", "name": "e", "properties": {"a": {"b": 1}}}}"#,
            "wrong-type", "/event/properties/a"
        ),
        (
            #"{"device": "d", "event": {"type": "event", "name": "e", "properties": {"a": [null]}}}"#, "wrong-type",
            "/event/properties/a/0"
        ),
        (
            #"{"device": "d", "event": {"type": "event", "name": "e", "properties": {"a": [[1]]}}}"#, "nested",
            "/event/properties/a/0"
        ),
        ("[]", "wrong-type", ""), ("{", "not-json", ""), ("", "not-json", ""),
    ])
    func namesTheMistakeOfATrigger(_ body: String, _ code: String, _ pointer: String) {
        let fault = fault { () throws(FormFault) in try trigger(body) }
        #expect(fault?.code == code && fault?.pointer == pointer, "\(fault as Any)")
    }

    @Test func boundsPropertiesAndNames() {
        func fault(properties: String) -> FormFault? {
            self.fault { () throws(FormFault) in
                try trigger(
                    #"{"device": "d", "event": {"type": "event", "name": "e", "properties": {\#(properties)}}}"#)
            }
        }
        let many = (0...100).map { #""p\#($0)": 1"# }.joined(separator: ",")
        #expect(fault(properties: many)?.code == "too-many")
        #expect(fault(properties: many)?.pointer == "/event/properties")
        #expect(fault(properties: #""a": "\#(String(repeating: "x", count: 1025))""#)?.code == "too-long")
        #expect(fault(properties: #""\#(String(repeating: "x", count: 257))": 1"#)?.pointer == "/event/properties")
        #expect(fault(properties: #""a": 1, "a": 2"#)?.code == "repeated-member")
        let large = String(repeating: " ", count: FormBounds.request + 1)
        #expect(self.fault { () throws(FormFault) in try trigger(large) }?.code == "too-large")
    }

    // MARK: Slots

    @Test func readsAPageOfSlots() throws {
        let (request, explain) = try SlotForm.read(
            Array(
                #"""
                {"device": "d", "page": "product", "productPage": true,
                 "slots": [{"name": "a", "productId": "p", "sku": "s", "view": "v", "canDisplay": false}, {"name": "b"}],
                 "override": {"name": "b", "message": "m"}}
                """#.utf8), ticket: "of_1")
        #expect(
            request
                == SlotRequest(
                    device: "d", user: nil, page: "product", isProductPage: true,
                    slots: [
                        .init(SlotLabel("a", productID: "p", sku: "s"), view: "v", canDisplay: false),
                        .init(SlotLabel("b")),
                    ], override: .init(label: SlotLabel("b"), message: "m"), client: ClientState(), ticket: "of_1"))
        #expect(!explain)
    }

    /// Granify's documents print product ids as numbers, and its payloads have both.
    @Test func readsAnIdentifierThatIsANumber() throws {
        let body = #"""
            {"device": "d", "page": "p", "slots": [{"name": "a", "productId": 123, "sku": 7}],
             "override": {"name": "a", "productId": 123, "sku": "7"}}
            """#
        let (request, _) = try SlotForm.read(Array(body.utf8), ticket: "t")
        let label = SlotLabel("a", productID: "123", sku: "7")
        #expect(request.slots.map(\.label) == [label] && request.override?.label == label)
    }

    @Test(arguments: [
        (#"{"device":"d","page":"p","slots":[{"name":"a","productId":1.5}]}"#, "wrong-type", "/slots/0/productId"),
        (#"{"device": "d", "page": "p", "slots": [{"name": "a", "sku": true}]}"#, "wrong-type", "/slots/0/sku"),
        (#"{"device": "d", "slots": []}"#, "missing", "/page"), (#"{"device": "d", "page": "p"}"#, "missing", "/slots"),
        (#"{"device": "d", "page": "p", "slots": [{"label": "x"}]}"#, "unknown-member", "/slots/0/label"),
        (#"{"device": "d", "page": "p", "slots": [{"name": ""}]}"#, "empty", "/slots/0/name"),
        (#"{"device": "d", "page": "p", "slots": [], "override": {}}"#, "missing", "/override/name"),
    ])
    func namesTheMistakeOfAPage(_ body: String, _ code: String, _ pointer: String) {
        let fault = fault { () throws(FormFault) in try SlotForm.read(Array(body.utf8), ticket: "t") }
        #expect(fault?.code == code && fault?.pointer == pointer, "\(fault as Any)")
    }

    // MARK: Reports

    @Test(arguments: [
        (#"{"outcome": "shown"}"#, Report.Outcome.shown),
        (#"{"outcome": "clicked"}"#, .clicked(button: nil, closes: true)),
        (#"{"outcome": "clicked", "button": "yes", "closes": false}"#, .clicked(button: "yes", closes: false)),
        (#"{"outcome": "dismissed"}"#, .dismissed(how: "user")),
        (#"{"outcome": "dismissed", "how": "swipe"}"#, .dismissed(how: "swipe")),
        (#"{"outcome": "later"}"#, .later), (#"{"outcome": "undo"}"#, .undo), (#"{"outcome": "discard"}"#, .discard),
        (#"{"outcome": "asset-failed"}"#, .assetFailed), (#"{"outcome": "orientation"}"#, .orientation),
        (#"{"outcome": "template-unknown"}"#, .templateUnknown), (#"{"outcome": "image-missing"}"#, .imageMissing),
        (#"{"outcome": "render-failed"}"#, .renderFailed), (#"{"outcome": "template-aborted"}"#, .templateAborted),
        (#"{"outcome": "interrupted"}"#, .interrupted),
    ])
    func readsEveryOutcome(_ body: String, _ outcome: Report.Outcome) throws {
        let form = try ReportForm.read(Array(body.utf8), offer: "of_1", ticket: "of_2")
        #expect(form.report(on: "d").outcome == outcome)
        #expect(ReportForm.Outcome(rawValue: outcome.word) != nil)
    }

    @Test func namesTheOffersDeviceUnlessTheReportNamesOne() throws {
        let body = #"{"outcome": "shown", "reportId": "r", "at": "1970-01-01T00:00:01Z", "device": "other"}"#
        let named = try ReportForm.read(Array(body.utf8), offer: "of_1", ticket: "of_2")
        #expect(named.device == "other")
        #expect(
            named.report(on: "d")
                == Report(
                    id: "r", offer: "of_1", device: "other", outcome: .shown, deviceTime: 1000, ticket: "of_2"))
        let plain = try ReportForm.read(Array(#"{"outcome": "shown"}"#.utf8), offer: "of_1", ticket: "of_2")
        #expect(plain.device == nil && plain.report(on: "d").device == "d")
    }

    @Test(arguments: [
        ("{}", "missing", "/outcome"), (#"{"outcome": "seen"}"#, "invalid-value", "/outcome"),
        (#"{"outcome": 1}"#, "wrong-type", "/outcome"),
        (#"{"outcome": "shown", "button": "yes"}"#, "contradictory", "/button"),
        (#"{"outcome": "clicked", "how": "swipe"}"#, "contradictory", "/how"),
        (#"{"outcome": "dismissed", "how": "thrown"}"#, "invalid-value", "/how"),
        (#"{"outcome": "shown", "device": ""}"#, "empty", "/device"),
        (#"{"outcome": "shown", "at": 5}"#, "wrong-type", "/at"),
    ])
    func namesTheMistakeOfAReport(_ body: String, _ code: String, _ pointer: String) {
        let fault = fault { () throws(FormFault) in try ReportForm.read(Array(body.utf8), offer: "o", ticket: "t") }
        #expect(fault?.code == code && fault?.pointer == pointer, "\(fault as Any)")
    }

    // MARK: Explanations

    @Test(arguments: [
        (#"{"device": "d", "event": {"type": "poll"}, "history": "none"}"#, "invalid-value", "/history"),
        (#"{"device": "d", "event": {"type": "poll"}, "counters": [{"count": 1}]}"#, "missing", "/counters/0"),
        (
            #"{"device": "d", "event": {"type": "poll"}, "counters": [{"scope": true, "vendor": "v", "count": 1}]}"#,
            "contradictory", "/counters/0"
        ),
        (
            #"{"device": "d", "event": {"type": "poll"}, "counters": [{"scope": false, "count": 1}]}"#, "wrong-type",
            "/counters/0/scope"
        ),
        (
            #"{"device": "d", "event": {"type": "poll"}, "counters": [{"vendor": "v", "per": "everyone", "count": 1}]}"#,
            "contradictory", "/counters/0/per"
        ),
        (
            #"{"device": "d", "event": {"type": "poll"}, "counters": [{"vendor": "v", "count": -1}]}"#, "out-of-range",
            "/counters/0/count"
        ),
    ])
    func namesTheMistakeOfAQuestion(_ body: String, _ code: String, _ pointer: String) {
        let fault = fault { () throws(FormFault) in try ExplainForm.read(Array(body.utf8)) }
        #expect(fault?.code == code && fault?.pointer == pointer, "\(fault as Any)")
    }
}
