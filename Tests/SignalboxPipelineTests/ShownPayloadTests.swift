import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import Testing

@Suite struct ShownPayloadTests {
    /// The payload that an event includes, as text; nil for none.
    private func shown(_ payload: String) throws -> String? {
        let normalizer = Normalizer(
            chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key), showsPayloads: true)
        let parser = Normalizer.makeParser()
        let event = try Array(payload.utf8).withUnsafeBufferPointer { bytes throws(Rejection) in
            try normalizer.event(bytes, as: TestPipeline().reception, at: PayloadPosition(), with: parser)
        }
        return event.shown?.string
    }

    @Test func setsCategoryAndMutableContent() throws {
        let text = try shown(
            #"{"aps":{"alert":"x","category":"old","mutable-content":0,"sound":"default"},"category-name":"offers","category-actions":[{"name":"A","type":"url","value":"https://a.example"}]}"#
        )
        #expect(
            text
                == #"{"aps":{"alert":"x","sound":"default","category":"offers","mutable-content":1},"category-name":"offers","category-actions":[{"name":"A","type":"url","value":"https://a.example"}]}"#
        )
    }

    @Test func leavesPlainPayloadsUnchanged() throws {
        let payload = #"{"aps":{"alert":"x","category":"app-made","mutable-content":1},"mine":[1,{"a":null}]}"#
        #expect(
            try shown(payload)
                == payload.replacing(
                    #""category":"app-made","mutable-content":1"#, with: #""mutable-content":1,"category":"app-made""#))
        #expect(try shown(#"{"aps":{"content-available":1},"mine":2}"#) == #"{"aps":{"content-available":1},"mine":2}"#)
    }

    @Test func mediaNeedAnExtension() throws {
        let text = try shown(
            #"{"aps":{"alert":"x"},"media-attachment":"https://a.example/i.png","notification-action":{"type":"openApp"}}"#
        )
        #expect(text?.contains(#""aps":{"alert":"x","mutable-content":1}"#) == true)
    }

    @Test func findsTheAPNsPayloadInAnFCMRequest() throws {
        let text = try shown(
            #"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":"x"},"k":1}},"notification":{"title":"t"}}}"#)
        #expect(text == #"{"aps":{"alert":"x"},"k":1}"#)
    }

    @Test func hasNoShownPayloadForOtherPlatforms() throws {
        #expect(try shown(#"{"message":{"token":"t","notification":{"title":"t"}}}"#) == nil)
        #expect(try shown(#"{"wzrk_pn":"true","nm":"x","nt":"y"}"#) == nil)
    }
}
