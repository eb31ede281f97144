import Foundation
import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct CatalogueTests {
    private static let acme = """
        [{"vendor": "acme", "markers": [{"strength": "signature", "at": "/acme/id"}],
          "fields": {"title": "/acme/title", "link": "/acme/link", "silent": [{"at": "/acme/quiet", "is": "true"}],
                     "buttons": {"title": "/acme_b{i}", "link": "/acme_l{i}", "first": 1},
                     "media": {"url": "/acme/pictures"}, "custom": "/acme/extras"}}]
        """

    private func chain(_ entries: String) throws -> VendorChain {
        try VendorChain(named: nil, custom: Catalogue(JSONText(parsing: entries)))
    }

    // MARK: The built-in catalogue

    @Test func theBuiltInCatalogueHasNoMistakes() {
        let entries = Catalogue.builtIn.entries
        #expect(entries.count == 74)
        #expect(Set(entries.map(\.vendor)).count == entries.count)
        #expect(entries.allSatisfy { !$0.name.isEmpty && !$0.source.isEmpty && !$0.confidence.isEmpty })
        #expect(entries.filter(\.markers.isEmpty).map(\.vendor.name) == ["azure-notification-hubs"])
    }

    @Test func checksOnlyVendorsWithAKeyInThePayload() throws {
        #expect(try asked(by: #"{"aps":{"alert":"x"},"order":{"id":1},"wzrk":"1","custo":1,"customs":1}"#) == [])
        #expect(try asked(by: #"{"wzrk_pn":"true"}"#) == ["clevertap"])
        #expect(try asked(by: #"{"aps":{},"source":"x"}"#) == ["bloomreach", "webengage", "freshchat", "insider"])
        #expect(try asked(by: #"{"itbl":"{}","itbl2":"x","bsft_message_uuid":"u"}"#) == ["iterable", "blueshift"])
    }

    /// Markers inside `aps` are checked for every APNs payload and not counted here.
    private func asked(by payload: String) throws -> Set<String> {
        let parser = JSONParser()
        let opened = try Platforms.recognise(
            try parser.parse(Array(payload.utf8)), size: payload.utf8.count, parser: parser)
        var names: Set<String> = []
        let catalogue = Catalogue.builtIn
        catalogue.forEachMarker(indexedFor: opened) {
            let (entry, marker) = catalogue.markers[$0]
            guard marker.conditions.first?.path?.firstKey != Array("aps".utf8) else { return }
            names.insert(catalogue.entries[entry].vendor.name)
        }
        return names
    }

    // MARK: A user's entries

    @Test func aTextThatTheVendorReplacesStaysInCustom() throws {
        let entries = #"[{"vendor":"acme","markers":[{"strength":"proof","at":"/a"}],"fields":{"title":"/t"}}]"#
        let payload = #"{"a":"1","t":"Mine","gcm.n.title":"Plain","gcm.n.body":"Text","from":"2"}"#
        let read = try Normalised(Array(payload.utf8), by: chain(entries)).notification
        #expect(read.content.title == "Mine")
        #expect(read.custom?.string == #"{"a":"1","fcm":{"gcm.n.title":"Plain","from":"2"}}"#)
    }

    @Test func theRestOfAnObjectHasItsUnreadMembers() throws {
        let entries = #"[{"vendor":"acme","markers":[{"strength":"proof","at":"/a/b"}],"fields":{"title":"/a/b"}}]"#
        for (members, rest) in [
            (#""b":"x""#, nil), (#""b":"y","b":"x""#, #"{"a":{}}"#), (#""b":"x","c":1"#, #"{"a":{"c":1}}"#),
            (#""b":"x","c":[1,{}]"#, #"{"a":{"c":[1,{}]}}"#),
        ] {
            let read = try Normalised(Array(#"{"aps":{"alert":"x"},"a":{\#(members)}}"#.utf8), by: chain(entries))
            #expect(read.notification.content.title == "x")
            #expect(read.notification.custom?.string == rest)
        }
    }

    @Test(arguments: [1, 7, 8, 9, 20]) func aRepeatedPictureIsReadOnce(_ count: Int) throws {
        let links = (0..<count).map { "https://a.example/\($0).png" }
        let pictures = (links + links.reversed()).map { "\"\($0)\"" }.joined(separator: ",")
        let payload = #"{"aps":{"alert":"x"},"acme":{"id":1,"pictures":[\#(pictures)]}}"#
        let read = try Normalised(Array(payload.utf8), by: chain(Self.acme)).notification
        #expect(read.media.map(\.url) == links)
    }

    @Test func aUsersEntryIsReadLikeTheOthers() throws {
        let payload = #"""
            {"aps":{"alert":"x"},"acme":"{\"id\":1,\"title\":\"T\",\"link\":\"shop://x\",\"pictures\":[\"https://a.example/1.png\",7],\"extras\":{\"k\":\"v\"}}",
             "acme_b1":"One","acme_l1":"https://a.example","acme_b2":"Two","acme_b4":"Four","mine":1}
            """#
        let read = try Normalised(Array(payload.utf8), by: chain(Self.acme)).notification
        #expect(read.vendor.name == "acme")
        #expect(read.detection.evidence == ["/acme/id"])
        #expect(read.content.title == "T")
        #expect(read.action == Action(.deepLink, value: "shop://x"))
        #expect(read.category?.actions.map(\.title) == ["One", "Two"])
        #expect(read.media.map(\.url) == ["https://a.example/1.png"])
        #expect(read.custom?.string == #"{"k":"v","acme":{"id":1,"pictures":{"1":7}},"acme_b4":"Four","mine":1}"#)
    }

    @Test func aUsersEntryComesFirstAndHidesItsNamesake() throws {
        let own = """
            [{"vendor": "zeta", "markers": [{"strength": "signature", "at": "/itbl"}]},
             {"vendor": "klaviyo", "markers": [{"strength": "signature", "at": "/kl"}]}]
            """
        let iterable = try Normalised(Array(#"{"aps":{},"itbl":{"campaignId":1}}"#.utf8), by: chain(own)).notification
        #expect(iterable.vendor.name == "zeta")
        #expect(iterable.detection.also.map(\.name) == ["iterable"])
        let klaviyo = try Normalised(Array(#"{"aps":{},"body":{"_k":"x"}}"#.utf8), by: chain(own)).notification
        #expect(klaviyo.vendor == .unknown)
    }

    @Test func dropsButtonsThatTheVendorsSDKDoesNotShow() throws {
        let own = """
            [{"vendor": "zeta", "markers": [{"strength": "signature", "at": "/zeta"}],
              "fields": {"buttons": {"list": "/zeta", "title": "/t", "link": "/l", "word": "/w", "types": {"go": "deepLink"},
                "drops": [{"at": "/w", "notAmong": ["go"]}, {"all": [{"at": "/w", "equals": "go"}, {"at": "/l", "is": "unset"}]}]}}}]
            """
        let payload = #"""
            {"aps":{},"zeta":[{"t":"1","w":"no"},{"t":"2","w":"go"},{"t":"3","w":"go","l":""},{"t":"4","w":"go","l":"a://b"},
             {"t":"5","l":"a://c"},{"t":"6","w":""}]}
            """#
        let read = try Normalised(Array(payload.utf8), by: chain(own)).notification
        #expect(read.category?.actions.map(\.title) == ["4", "5"])
        #expect(read.custom?.string.contains(#""0":{"t":"1","w":"no"}"#) == true)
    }

    @Test(arguments: [
        ("a://default", Action(.openApp, vendorType: "a://default")),
        ("a://noop", Action(.dismiss, vendorType: "a://noop")),
        ("a://broadcast", Action(.custom, value: "a://broadcast")),
        ("a://default/x", Action(.deepLink, value: "a://default/x")),
        ("https://a.example", Action(.openUrl, value: "https://a.example")),
    ])
    func carriesOutLinksWithAMeaning(_ link: String, _ action: Action) throws {
        let links = #""links": {"a://default": "openApp", "a://noop": "dismiss", "a://broadcast": "custom"}"#
        let own = """
            [{"vendor": "zeta", "markers": [{"strength": "signature", "at": "/zeta"}],
              "fields": {"link": "/zeta/link", \(links),
                         "buttons": {"list": "/zeta/buttons", "title": "/t", "link": "/link", \(links)}}}]
            """
        let payload = #"{"aps":{},"zeta":{"link":"\#(link)","buttons":[{"t":"B","link":"\#(link)"}]}}"#
        let read = try Normalised(Array(payload.utf8), by: chain(own)).notification
        #expect(read.action == action)
        #expect(read.category?.actions.map(\.action) == [action])
        #expect(read.custom == nil)
    }

    /// The push service shows its own block regardless of the vendor's SDK.
    @Test(arguments: [
        (#"{"zeta":"1","t":"T"}"#, "silent"), (#"{"zeta":"1","t":"T","b":""}"#, "silent"),
        (#"{"zeta":"1","t":"T","b":"B"}"#, "alert"), (#"{"zeta":"1","b":"B"}"#, "alert"),
        (#"{"to":"x","data":{"zeta":"1","t":"T"}}"#, "silent"),
        (#"{"to":"x","notification":{"title":"N"},"data":{"zeta":"1","t":"T"}}"#, "alert"),
    ])
    func textsThatTheSDKDoesNotShowAreSilent(_ payload: String, _ kind: String) throws {
        let own = """
            [{"vendor": "zeta", "markers": [{"strength": "signature", "at": "/zeta"}],
              "fields": {"title": "/t", "body": "/b", "shown": [{"at": "fcm:/b", "is": "scalar"}]}}]
            """
        let read = try Normalised(Array(payload.utf8), by: chain(own)).notification
        #expect(read.kind.rawValue == kind)
        #expect(read.content.title == (payload.contains(#""t""#) ? "T" : nil))
    }

    @Test func opensALinkForAWebViewInOne() throws {
        let own = """
            [{"vendor": "zeta", "markers": [{"strength": "signature", "at": "/zeta"}],
              "fields": {"webView": "/zeta/page", "link": "/zeta/link"}}]
            """
        let both = #"{"aps":{},"zeta":{"page":"https://a.example","link":"https://b.example"}}"#
        let read = try Normalised(Array(both.utf8), by: chain(own)).notification
        #expect(read.action == Action(.webView, value: "https://a.example"))
        #expect(read.custom?.string == #"{"zeta":{"link":"https://b.example"}}"#)
    }

    @Test(arguments: [
        (#"{"aps":{"alert":{"title":"A","body":"B"}},"zeta":{"title":"T"}}"#, #"{"aps":{"alert":{"title":"A"}}}"#),
        (#"{"aps":{"alert":"A"},"zeta":{"title":"T","body":"B"}}"#, #"{"aps":{"alert":"A"}}"#),
        (
            #"{"to":"t","notification":{"title":"A"},"data":{"zeta":{"title":"T"}}}"#,
            #"{"fcm":{"notification":{"title":"A"}}}"#
        ),
        (
            #"{"gcm.n.e":"1","gcm.n.title":"A","gcm.n.body":"B","zeta":"{\"title\":\"T\"}"}"#,
            #"{"fcm":{"gcm.n.title":"A"}}"#
        ),
        (
            #"{"message":{"notification":{"title":"A"},"data":{"zeta":"{\"title\":\"T\"}"},"apns":{"payload":{"aps":{"alert":"C"}}}}}"#,
            #"{"fcm":{"notification":{"title":"A"},"apns":{"payload":{"aps":{"alert":"C"}}}}}"#
        ),
        (#"{"aps":{"alert":"T"},"zeta":{"title":"T"}}"#, nil),
    ])
    func keepsTextsThatTheVendorsReplace(_ payload: String, _ custom: String?) throws {
        let own = """
            [{"vendor": "zeta", "markers": [{"strength": "signature", "at": "/zeta"}],
              "fields": {"title": "/zeta/title", "body": "/zeta/body"}}]
            """
        let read = try Normalised(Array(payload.utf8), by: chain(own)).notification
        #expect(read.content.title == "T")
        #expect(read.custom?.string == custom)
    }

    @Test(arguments: [
        (#""is":"scalar""#, ["7", #""x""#, "true"], ["\"\"", "{}", "[1]", "null"]),
        (#""is":"integer""#, ["7", #""7""#, #""5e3""#], ["7.5", #""x""#, "true", "{}"]),
        (#""among":["a","7"]"#, [#""a""#, "7", #""7""#], [#""A""#, #""b""#, "{}"]),
        (#""form":"lettered","length":3"#, [#""a7b""#], [#""777""#, "777", #""a7""#, #""a-7""#]),
    ])
    func aConditionHoldsOfItsValuesOnly(_ test: String, _ good: [String], _ bad: [String]) throws {
        let chain = try chain(#"[{"vendor":"acme","markers":[{"strength":"signature","at":"/k",\#(test)}]}]"#)
        for value in good + bad {
            let read = try Normalised(Array(#"{"aps":{},"k":\#(value)}"#.utf8), by: chain).notification
            #expect(read.vendor.name == (good.contains(value) ? "acme" : "unknown"), "\(value)")
        }
    }

    @Test func anEntryReadsTagsAndLiveUpdatesAndDropsButtons() throws {
        let entry = #"""
            [{"vendor": "acme", "markers": [{"strength": "signature", "at": "/acme"}],
              "fields": {"tag": "/acme/tag", "liveActivity": [{"at": "/acme/live", "is": "true"}],
                         "tokens": ["/acme/device", "/acme/devices/*"],
                         "buttons": {"list": "/acme/buttons", "title": "/t",
                                     "drops": [{"at": "/off"}, {"all": [{"at": "/k", "equals": "url"}, {"at": "/u", "is": "absent"}]}]}}}]
            """#
        let payload = #"""
            {"acme":{"tag":"order-17","live":true,"device":"d","devices":["e","f"],
             "buttons":[{"t":"A"},{"t":"B","off":1},{"t":"C","k":"url"},{"t":"D","k":"url","u":"x"}]}}
            """#
        let read = try Normalised(Array(payload.utf8), by: chain(entry)).notification
        #expect(read.tag == "order-17")
        #expect(read.kind == .liveActivity)
        #expect(read.category?.actions.map(\.title) == ["A", "D"])
        #expect(read.deviceTokens.map { String(decoding: $0.text, as: UTF8.self) } == ["d", "e", "f"])
        #expect(read.deviceTokens.map { String(decoding: $0.key, as: UTF8.self) } == ["device", "devices", "devices"])
    }

    // MARK: Hostile payloads

    @Test func checksAMarkerOnceForManyKeysWithItsPrefix() throws {
        let keys = (0..<20_000).map { #""wzrk_\#($0)":"x""# }.joined(separator: ",")
        let read = try Normalised(#"{"aps":{},\#(keys)}"#).notification
        #expect(read.vendor.name == "clevertap")
        #expect(read.detection.evidence == ["/wzrk_0"])
    }

    @Test func checksAMarkerOnceForManyRepeatedKeys() throws {
        let keys = Array(repeating: #""custom":{"i":7}"#, count: 20_000).joined(separator: ",")
        #expect(try Normalised(#"{"aps":{},\#(keys)}"#).notification.vendor == .unknown)
    }

    @Test func readsAThousandOfTenThousandButtons() throws {
        let buttons = Array(repeating: #"{"n":"x"}"#, count: 10_000).joined(separator: ",")
        let read = try Normalised(
            #"{"aps":{},"custom":{"i":"7d3a2c5e-1f0b-4a6d-9c8e-2b1a0f9e8d7c"},"buttons":[\#(buttons)]}"#
        ).notification
        #expect(read.category?.actions.count == 1000)
        #expect(read.warnings.map(\.code).contains("onesignal.too-many-buttons"))
    }

    @Test func textsInTextsStayTexts() throws {
        let read = try Normalised(
            #"{"aps":{},"custom":"{\"i\":\"7d3a2c5e-1f0b-4a6d-9c8e-2b1a0f9e8d7c\",\"a\":\"{\\\"k\\\":1}\"}"}"#
        ).notification
        #expect(read.vendor.name == "onesignal")
    }

    @Test func aNullUnderAPrefixIsAbsent() throws {
        let entry = #"[{"vendor":"acme","markers":[{"strength":"signature","keyPrefix":"acme_"}],"fields":{}}]"#
        let known = try Normalised(Array(#"{"aps":{"alert":"x"},"acme_a":null,"acme_b":1}"#.utf8), by: chain(entry))
        #expect(known.notification.vendor.name == "acme")
        let unknown = try Normalised(Array(#"{"aps":{"alert":"x"},"acme_a":null}"#.utf8), by: chain(entry))
        #expect(unknown.notification.vendor.name == "unknown")
    }

    // MARK: Explanations

    @Test(arguments: [
        (#"{"aps":{},"body":"text"}"#, #"klaviyo: no; /body is "text"; expected an object with _k"#),
        (#"{"aps":{},"body":{"k":1}}"#, "klaviyo: no; /body has no _k"),
        (#"{"aps":{},"source":"mine"}"#, #"webengage: no; /source is "mine"; expected "webengage""#),
        (
            #"{"aps":{},"com.batch":{}}"#,
            "batch: no; /com.batch is an empty object; expected an object that is not empty"
        ),
        (#"{"aps":{},"CIO-Delivery-ID":"1"}"#, "customerio: no; there is no /CIO-Delivery-Token"),
        (#"{"aps":{},"custom":{"i":7}}"#, "onesignal: no; /custom/i is the number 7; expected a text"),
    ])
    func explainsWhyAVendorDoesNotMatch(_ payload: String, _ line: String) throws {
        let parser = JSONParser()
        let opened = try Platforms.recognise(
            try parser.parse(Array(payload.utf8)), size: payload.utf8.count, parser: parser)
        let lines = Catalogue.builtIn.explain(opened)
        #expect(lines.contains("  " + line), "\(lines)")
        #expect(lines[0].contains("of its 74 vendors"))
    }
}

extension JSONText {
    /// The text of a literal in a test.
    init(parsing text: String) throws {
        let parser = JSONParser()
        self = try withExtendedLifetime(parser) { JSONText(try parser.parse(Array(text.utf8))) }
    }
}
