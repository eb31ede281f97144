import Testing

@testable import SignalboxNotification

/// Payloads of ordinary apps with a vendor's key names, and values of another type or form.
@Suite struct LookalikeTests {
    @Test(arguments: alerts + mceKeys + brazeKeys + brazeMessages + synerise + sourse + granify + cleverpush)
    func namesNoVendor(_ payload: String) throws {
        #expect(try Normalised(payload).notification.vendor == .unknown)
    }

    /// JSON texts `alert`, which MCE and many apps send.
    private static let alerts = [
        #"{"alert":"{\"title\":\"T\",\"message\":\"M\"}"}"#,
        #"{"alert":"{\"title\":\"T\",\"body\":\"B\"}","badge":"1"}"#,
        #"{"alert":"{\"message\":\"M\"}","type":"chat"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\"}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"type\":\"news\",\"icon\":\"i\",\"sound\":\"s\",\"badge\":1}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"payload\":{\"id\":1},\"sensitive\":true}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"action\":{\"type\":\"open\"}}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"notification-action\":\"open\"}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"notification-action\":{\"id\":5}}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"notification-action\":{\"type\":\"open\"}}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"expandable\":true}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"expandable\":{\"rows\":2}}"}"#,
        #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"vibratePattern\":\"long\"}"}"#,
        #"{"alert":"{\"title\":\"T\",\"message\":\"M\",\"soundEnabled\":true}"}"#,
        #"{"to":"x","data":{"alert":{"title":"T","message":"M"}}}"#,
        #"{"to":"x","data":{"alert":{"subject":"S","message":"M"}}}"#,
        #"{"message":{"topic":"t","data":{"alert":"{\"title\":\"T\",\"message\":\"M\"}"}}}"#,
        #"{"google.message_id":"1","from":"1","alert":"{\"title\":\"T\",\"message\":\"M\"}"}"#,
        #"{"aps":{"alert":"x"},"alert":{"title":"T","message":"M"}}"#,
    ]

    private static let mceKeys = [
        #"{"mce":"{\"id\":\"5\"}"}"#, #"{"mce":"{}"}"#, #"{"mce":"tiny"}"#,
        #"{"aps":{"alert":"x"},"mce":{"id":5}}"#, #"{"aps":{"alert":"x"},"mce":{}}"#,
        #"{"aps":{"alert":"x"},"mce":[1]}"#,
        #"{"aps":{"alert":"x"},"mce":{"attribution":null,"mailingId":null}}"#,
        #"{"aps":{"alert":"x"},"mce":{"attribution":{"source":"ad"}}}"#,
        #"{"aps":{"alert":"x"},"attribution":"a","mailingId":"5"}"#,
        #"{"aps":{"alert":"x"},"notification-action":"open"}"#, #"{"aps":{"alert":"x"},"notification-action":{}}"#,
        #"{"aps":{"alert":"x"},"notification-action":{"screen":"cart"}}"#,
        #"{"aps":{"alert":"x"},"notification-action":{"type":7}}"#,
        #"{"aps":{"alert":"x"},"notification-action":{"type":"open"}}"#,
        #"{"aps":{"alert":"x"},"notification-action":{"type":"open","value":null,"id":7}}"#,
        #"{"aps":{"alert":"x"},"notification-action":["open"]}"#,
        #"{"aps":{"alert":"x"},"category-actions":[]}"#, #"{"aps":{"alert":"x"},"category-actions":["like","reply"]}"#,
        #"{"aps":{"alert":"x"},"category-actions":[{"id":"1","title":"Like"}]}"#,
        #"{"aps":{"alert":"x"},"category-actions":{"type":"url","name":"n"}}"#,
        #"{"aps":{"alert":"x"},"inApp":true}"#, #"{"aps":{"alert":"x"},"inApp":{"title":"T","template":"modal"}}"#,
        #"{"aps":{"alert":"x"},"inApp":{"rules":5,"template":null}}"#,
        #"{"aps":{"alert":"x"},"inApp":{"rules":["a"],"template":"modal"}}"#,
        #"{"aps":{"alert":"x"},"inApp":{"rules":["a"],"template":"modal","content":{"title":"T"}}}"#,
        #"{"aps":{"alert":"x"},"category-name":"news","media-attachment":"https://a.example/m.png"}"#,
        #"{"aps":{"alert":"x"},"carousel":{"items":[{"url":"u","text":"t"}]}}"#,
    ]

    private static let brazeKeys = [
        #"{"aps":{"alert":"x"},"ab":{"group":"B"}}"#, #"{"aps":{"alert":"x"},"ab":{"test":"t","variant":"A"}}"#,
        #"{"aps":{"alert":"x"},"ab":{"c":5}}"#, #"{"aps":{"alert":"x"},"ab":{"att":"all"}}"#,
        #"{"aps":{"alert":"x"},"ab":{"c":"control"}}"#, #"{"aps":{"alert":"x"},"ab":{"c":"checkout-variant-b"}}"#,
        #"{"aps":{"alert":"x"},"ab":"B"}"#, #"{"aps":{"alert":"x"},"ab":["a"]}"#, #"{"aps":{"alert":"x"},"ab":{}}"#,
        #"{"aps":{"alert":"x"},"ab":{"ab_group":"B"}}"#, #"{"aps":{"alert":"x"},"ab":{"ab_test":{"variant":"A"}}}"#,
        #"{"aps":{"alert":"x"},"ab":{"group":"B"},"ab_test":"B"}"#,
        #"{"aps":{"alert":"x"},"ab_uri":"https://a.example"}"#, #"{"aps":{"alert":"x"},"ab_variant":"x"}"#,
        #"{"aps":{"alert":"x"},"appboy_uninstall_tracking":false}"#, #"{"aps":{"alert":"x"},"ab_sync_geos":"no"}"#,
        #"{"aps":{"alert":"x"},"braze":true}"#, #"{"aps":{"alert":"x"},"braze":{"id":"1"}}"#,
        #"{"_ab":"B","t":"T","a":"A"}"#, #"{"_ab":"1"}"#, #"{"_ab":"false","cid":"x"}"#, #"{"_ab":"truely"}"#,
        #"{"t":"T","a":"A","s":"S","extra":"{}","uri":"https://a.example","cid":"c1"}"#,
    ]

    private static let brazeMessages = [
        #"{"t":"T","a":"A","cid":"c1","e":{"k":"v"}}"#, #"{"t":"T","a":"A","cid":"c1","ri":true}"#,
        #"{"t":"T","a":"A","cid":"campaign-2026","pab":[{"a":"open"}]}"#,
        #"{"t":"T","a":"A","cid":"spring sale of 2026 in the shops","ri":false}"#,
        #"{"triggers":[{"event":"open","data":{}}]}"#, #"{"trigger_condition":"x","data":{"a":1}}"#,
        #"{"message_close":"fade","click_action":"OPEN","type":"promo","n":1}"#,
        #"{"message_close":true,"click_action":"URI","type":"x"}"#,
    ]

    private static let synerise = [
        #"{"aps":{"alert":"x"},"issuer":"synerise"}"#, #"{"aps":{"alert":"x"},"issuer":"SYNERISE"}"#,
        #"{"aps":{"alert":"x"},"issuer":"Synerise "}"#, #"{"aps":{"alert":"x"},"issuer":"Synerise SA"}"#,
        #"{"aps":{"alert":"x"},"issuer":{"name":"Synerise"}}"#, #"{"aps":{"alert":"x"},"issuer":["Synerise"]}"#,
        #"{"issuer":"https://auth.example","content":"{}","content-type":"simple-push"}"#,
        #"{"aps":{"alert":"x"},"message-type":"static-content","content-type":"simple-push","content":{"notification":{}}}"#,
    ]

    private static let sourse = [
        #"{"handler":"com.sourse.other","title":"T"}"#, #"{"handler":"com.sourse.notification.x","title":"T"}"#,
        #"{"handler":"COM.SOURSE.NOTIFICATION"}"#, #"{"handler":"notification","message":"M"}"#,
        #"{"to":"x","data":{"handler":{"name":"com.sourse.notification"}}}"#,
        #"{"title":"T","message":"M","actionURL":"a://b","isSmartNotification":"1","embargoDate":"2026-01-01T00:00:00Z"}"#,
    ]

    private static let granify = [
        #"{"name":"aboveCartPageTotal","product_id":5,"sku":"x"}"#, #"{"name":"aboveCartPageTotal"}"#,
        #"{"name":"a","product_id":"5","sku":"x"}"#, #"{"aps":{"alert":"x"},"name":"a","product_id":5,"sku":"x"}"#,
    ]

    /// Documents of a MongoDB, whose identifiers are `_id` too.
    private static let cleverpush = [
        #"{"aps":{"alert":"x"},"notification":{"_id":"66389a38ae7db8fa370da55e","text":"B"},"subscription":{"_id":"66c9b023e481365da8218edc"}}"#,
        #"{"aps":{"alert":"x"},"notification":{"_id":"n1","title":"T","text":"B","url":"https://a.example"},"subscription":{"_id":"s1"}}"#,
        #"{"aps":{"alert":"x"},"notification":{"_id":"66389a38ae7db8fa370da55e","text":"B","iconUrl":"i","actions":[{"title":"A"}]},"subscription":{"_id":"66c9b023e481365da8218edc"}}"#,
        #"{"aps":{"alert":"x"},"notification":{"_id":"66389a38ae7db8fa370da55e","mediaUrl":"m"},"subscription":{"_id":"66c9b023e481365da8218edc"}}"#,
        #"{"aps":{},"notification":{"_id":"66389a38ae7db8fa370da55e","silent":true},"subscription":{"_id":"66c9b023e481365da8218edc"}}"#,
    ]
}

/// The same keys with the values that the vendor's SDKs send.
@Suite struct MarkerFormTests {
    @Test(arguments: [
        (#"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"notification-action\":{\"type\":\"openApp\"}}"}"#, "mce"),
        (#"{"alert":"{\"notification-action\":{\"type\":\"url\",\"value\":\"https://a.example\"}}"}"#, "mce"),
        (
            #"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"expandable\":{\"type\":\"text\",\"value\":\"V\"}}"}"#,
            "mce"
        ),
        (#"{"alert":"{\"subject\":\"S\",\"message\":\"M\",\"lightsPreferences\":[1,2,3]}"}"#, "mce"),
        (#"{"to":"x","data":{"alert":{"message":"M"},"mce":{"attribution":"A"}}}"#, "mce"),
        (#"{"mce":"{\"mailingId\":5}"}"#, "mce"), (#"{"aps":{},"mce":{"attribution":"A"}}"#, "mce"),
        (#"{"aps":{},"notification-action":{"value":"x"},"category-actions":[{"type":"url"}]}"#, "mce"),
        (#"{"aps":{},"category-actions":[3,{"type":"url","name":"N","value":"https://a.example"}]}"#, "mce"),
        (#"{"inApp":"{\"rules\":[\"all\"],\"template\":\"default\",\"maxViews\":1}"}"#, "mce"),
        (#"{"aps":{},"notification-action":{"type":"viewProduct","value":"7"}}"#, "mce"),
        (#"{"aps":{},"ab":{"c":"NjVmMF9jbXA="}}"#, "braze"),
        (#"{"aps":{},"ab":{"c":null}}"#, "braze"), (#"{"aps":{},"ab":{"ab_cd":{}}}"#, "braze"),
        (#"{"aps":{},"ab":{"att":{"url":"https://a.example/m.gif","type":"gif"}}}"#, "braze"),
        (#"{"aps":{},"ab":{"ab_cat":{"YES":{"a_t":"ab_open"}}}}"#, "braze"),
        (#"{"aps":{},"ab":{"x":1},"ab_use_webview":true}"#, "braze"),
        (#"{"aps":{},"ab_sync_geos":"true"}"#, "braze"), (#"{"aps":{},"ab_push_fetch_test_triggers_key":1}"#, "braze"),
        (#"{"t":"T","a":"A","cid":"x","pab":[{"action":"0","a":"ab_none"}]}"#, "braze"),
        (#"{"message_close":"SWIPE","click_action":"NONE","type":"SLIDEUP"}"#, "braze"),
        (#"{"aps":{},"ab":{"ab_carousel":true}}"#, "braze"),
        (#"{"inApp":"{\"rules\":[\"all\"],\"template\":\"default\",\"content\":{\"text\":\"T\"}}"}"#, "mce"),
        (
            #"{"aps":{},"notification":{"_id":"Mw29Mswn2DgRD3Zyx","text":"B"},"subscription":{"_id":"qW3eR5tY7uI9oP1aS"}}"#,
            "cleverpush"
        ),
    ])
    func namesTheVendor(_ payload: String, _ vendor: String) throws {
        #expect(try Normalised(payload).notification.vendor.name == vendor)
    }
}
