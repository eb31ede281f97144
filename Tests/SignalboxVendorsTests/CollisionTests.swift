import SignalboxJSON
import Testing

@testable import SignalboxNotification

/// The table of collisions in the reference, section 3: the vendor that wins when several use the same keys.
@Suite struct CollisionTests {
    @Test(arguments: [
        // MCE's SDK accepts any `alert`. Other apps put text or their own object there.
        (#"{"alert":"{\"subject\":\"S\"}","mce":"{\"attribution\":\"A\"}"}"#, "mce"),
        (#"{"alert":"{\"subject\":\"S\"}"}"#, "unknown"),
        (#"{"alert":"text","custom":"{\"i\":\"7d3a2c5e-1f0b-4a6d-9c8e-2b1a0f9e8d7c\"}"}"#, "onesignal"),
        (#"{"alert":"text","custom":"{\"a\":{\"k.message\":{\"data\":{\"id\":1}}}}"}"#, "optimove"),
        (#"{"alert":"text","_sid":"SFMC"}"#, "salesforce-mc"),
        (#"{"push_id":"a1","time":"2026-03-01T00:00:00.000Z","data":"{\"alert\":\"text\"}"}"#, "parse"),
        (#"{"alert":"text"}"#, "unknown"),
        // OneSignal and Optimove share `custom`.
        (#"{"aps":{},"custom":{"i":"7d3a2c5e-1f0b-4a6d-9c8e-2b1a0f9e8d7c","a":{}}}"#, "onesignal"),
        (#"{"aps":{},"custom":{"u":"https://a.example","a":{"k.message":{"data":{"id":1}}}}}"#, "optimove"),
        (#"{"aps":{},"custom":{"u":"https://a.example","a":{}}}"#, "unknown"),
        // Emarsys descends from Pushwoosh; both have `u`.
        (#"{"aps":{},"u":{"sid":"1"},"ems":{"multichannelId":"1"}}"#, "emarsys"),
        (#"{"aps":{},"u":"{}","pw_msg":"1"}"#, "pushwoosh"),
        (#"{"aps":{},"u":{"sid":"1"}}"#, "unknown"),
        // Klaviyo's object stands under `body`.
        (#"{"aps":{},"body":{"_k":"x"}}"#, "klaviyo"),
        (#"{"aps":{},"body":"text"}"#, "unknown"),
        (#"{"aps":{},"body":{"k":"x"}}"#, "unknown"),
        // MCE's `media-attachment` is the exact key at the root.
        (#"{"aps":{},"_mId":"1","_dId":"2","media-attachment-url":"https://a.example/i.png"}"#, "adobe-campaign"),
        (#"{"aps":{},"moengage":{"media-attachment":"https://a.example/i.png"}}"#, "moengage"),
        // Two vendors and many apps have a `source`.
        (#"{"aps":{},"source":"xnpe_platform"}"#, "bloomreach"),
        (#"{"aps":{},"source":"webengage"}"#, "webengage"),
        (#"{"aps":{},"source":"newsletter"}"#, "unknown"),
        // One letter: Countly's object needs its `i`.
        (#"{"aps":{},"c":{"i":"65f0c1a2b3c4d5e6f7a8b9c0"}}"#, "countly"),
        (#"{"aps":{},"ab":{"c":"NjVmMF9jbXA="}}"#, "braze"),
        (#"{"aps":{},"c":{"l":"https://a.example"}}"#, "unknown"),
        // Tiny keys and common words are not evidence.
        (#"{"t":"x","a":"x","s":"x","p":"x","n":"x","l":"x","u":"x","b":"x","m":"x","o":"x"}"#, "unknown"),
        (#"{"url":"x","link":"x","image":"x","title":"x","message":"x","body":"x"}"#, "unknown"),
    ])
    func tellsVendorsWithTheSameKeysApart(_ payload: String, _ vendor: String) throws {
        let read = try Normalised(payload).notification
        #expect(read.vendor.name == vendor)
        #expect(read.detection.also.isEmpty)
    }

    @Test(arguments: [
        (#"{"_ab":"true","custom":"{\"i\":\"7d3a2c5e-1f0b-4a6d-9c8e-2b1a0f9e8d7c\"}"}"#, "braze", ["onesignal"]),
        (#"{"aps":{},"ab":{"c":null},"itbl":{"campaignId":1},"wzrk_id":"1"}"#, "braze", ["clevertap", "iterable"]),
        (#"{"aps":{},"wzrk_id":"1","source":"webengage"}"#, "webengage", ["clevertap"]),
        (#"{"aps":{},"itbl":{"campaignId":1},"wzrk_id":"1"}"#, "clevertap", ["iterable"]),
        (
            #"{"aps":{},"custom":{"i":"7d3a2c5e-1f0b-4a6d-9c8e-2b1a0f9e8d7c","a":{"k.message":{"data":{"id":1}}}}}"#,
            "optimove", ["onesignal"]
        ),
        (#"{"aps":{},"itbl":{"campaignId":1},"ab_uri":"https://a.example"}"#, "iterable", ["braze"]),
        (#"{"aps":{},"itbl":{"campaignId":1},"ab":{"c":"x"}}"#, "iterable", ["braze"]),
    ])
    func namesTheOthersThatMatched(_ payload: String, _ vendor: String, _ others: [String]) throws {
        let read = try Normalised(payload).notification
        #expect(read.vendor.name == vendor)
        #expect(read.detection.also.map(\.name) == others)
        let shuffled = try Normalised(Tree.reversed(payload)).notification
        #expect(shuffled.vendor == read.vendor)
        #expect(shuffled.detection == read.detection)
    }
}
