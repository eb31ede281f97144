import SignalboxJSON
import Testing

@testable import SignalboxNotification

/// Messages about mistakes in a user's entries.
@Suite struct CatalogueFormTests {
    @Test(arguments: [
        (#"{}"#, "", "this must be an array, in brackets"),
        (#"[7]"#, "/0", "this must be an object, in braces"),
        (
            #"[{"markers":[{"strength":"hint","at":"/a"}]}]"#, "/0",
            #""vendor" is missing: a short name for events, such as "acme""#
        ),
        (
            #"[{"vendor":"a b","markers":[{"strength":"hint","at":"/a"}]}]"#, "/0/vendor",
            #""a b" is not a name: a name is 1 to 64 letters, digits, '-', '_' or '.'"#
        ),
        (
            #"[{"vendor":"braze","markers":[{"strength":"hint","at":"/a"}]}]"#, "/0/vendor",
            #""braze" is the name of a built-in detector; choose another"#
        ),
        (#"[{"vendor":"a"}]"#, "/0", #""markers" is missing; it lists the evidence of the vendor"#),
        (#"[{"vendor":"a","markers":[]}]"#, "/0/markers", "there is no marker here; without one nothing is recognised"),
        (
            #"[{"vendor":"a","markers":["/a"]}]"#, "/0/markers/0",
            #"a marker must be an object, such as {"strength": "signature", "at": "/acme"}"#
        ),
        (
            #"[{"vendor":"a","markers":[{"at":"/a"}]}]"#, "/0/markers/0",
            #""strength" is missing; write "proof", "signature" or "hint""#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"sure","at":"/a"}]}]"#, "/0/markers/0/strength",
            #"this must be one of "hint", "proof", "signature""#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"a"}]}]"#, "/0/markers/0/at",
            #""a" is not a path; write it like "/acme/id", with "apns:", "fcm:" or "payload:" in front to search only there"#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint"}]}]"#, "/0/markers/0",
            #"a condition has either "at", a path such as "/acme/id", or "keyPrefix""#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/*/x"}]}]"#, "/0/markers/0",
            "a marker's first path begins with a key, not with * or {i}"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","is":"absent"}]}]"#, "/0/markers/0",
            #"the first condition of a marker must find a value; put "absent" after it"#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","is":"text","equals":"x"}]}]"#, "/0/markers/0",
            "this asks for several things at once; write one of is, equals"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","equals":{}}]}]"#, "/0/markers/0/equals",
            "this must be a text that is not empty, a number or a boolean"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","all":[]}]}]"#, "/0/markers/0/all",
            "there is no condition here; name at least one"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"titel":"/t"}}]"#, "/0/fields/titel",
            #"there is no "titel" here; known here: title, subtitle, body, sound, badge, threadId, "#
                + "interruptionLevel, channel, category, tag, vendorKind, link, webView, richContent, word, arguments, "
                + "secrets, tokens, custom, base64, types, links, linkPrefix, defaultSound, media, buttons, carousel, campaign, schedule, "
                + "shown, alert, silent, control, liveActivity, ignored, trimmed"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"title":"/*/*"}}]"#, "/0/fields/title",
            "a path may have one * only"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"types":{"x":"fly"}}}]"#,
            "/0/fields/types/x",
            "there is no such type of action; known: openApp, openUrl, deepLink, dial, calendar, snooze, passbook, webView, showActions, richContent, dismiss, reply, custom"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"links":{"a://b":"fly"}}}]"#,
            "/0/fields/links/a:~1~1b",
            "there is no such type of action; known: openApp, openUrl, deepLink, dial, calendar, snooze, passbook, webView, showActions, richContent, dismiss, reply, custom"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"buttons":{"title":"/t"}}}]"#,
            "/0/fields/buttons", #"buttons need a "list", or a "title" with {i} in its path"#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"buttons":{"list":"/b","fixedId":"x"}}}]"#,
            "/0/fields/buttons", #""fixedId" is for a single button; leave out the "list""#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"buttons":{"list":"/b","joins":1}}}]"#,
            "/0/fields/buttons/joins", "this must be true or false"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"media":{"role":"hero"}}}]"#,
            "/0/fields/media/role", #"this must be one of "attachment", "background", "carousel", "icon""#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"schedule":{"from":"/f"}}}]"#,
            "/0/fields/schedule/from", #"there is no "from" here; known here: notBefore, notAfter"#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","moreThan":"1"}]}]"#, "/0/markers/0/moreThan",
            "this must be a number"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","form":"hexadecimal"}]}]"#, "/0/markers/0/form",
            #"this must be one of "alphanumeric", "dateTime", "digits", "hex", "lettered", "ulid", "url", "uuid""#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","among":[]}]}]"#, "/0/markers/0/among",
            "there is no text here; name at least one"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","among":["x",7]}]}]"#, "/0/markers/0/among/1",
            "this must be a string that is not empty"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"buttons":{"list":"/b","drops":[{"all":[]}]}}}]"#,
            "/0/fields/buttons/drops/0/all", "there is no condition here; name at least one"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"buttons":{"list":"/b","drops":[{"at":"/w","notAmong":[]}]}}}]"#,
            "/0/fields/buttons/drops/0/notAmong", "there is no text here; name at least one"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","is":"text","length":4}]}]"#,
            "/0/markers/0/length", #""length" needs a "form" next to it"#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","is":"unset"}]}]"#, "/0/markers/0",
            #"the first condition of a marker must find a value; put "absent" after it"#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","notAmong":"x"}]}]"#, "/0/markers/0/notAmong",
            "this must be an array, in brackets"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a","host":7}]}]"#, "/0/markers/0/host",
            "this must be a string that is not empty"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"buttons":{"list":"/b","drops":[{"all":[{"if":1}]}]}}}]"#,
            "/0/fields/buttons/drops/0/all/0",
            #"a condition has either "at", a path such as "/acme/id", or "keyPrefix""#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"ignored":[{"under":"/a"}]}}]"#,
            "/0/fields/ignored/0", #"this needs "under", a path, and "if", a condition"#
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"ignored":[{"under":"/a","if":{"all":[]}}]}}]"#,
            "/0/fields/ignored/0/if/all", "there is no condition here; name at least one"
        ),
        (
            #"[{"vendor":"a","markers":[{"strength":"hint","at":"/a"}],"fields":{"schedule":{}}}]"#,
            "/0/fields/schedule", #"a schedule has a "notBefore", a "notAfter" or both"#
        ),
    ])
    func reportsAMistakeAndItsPosition(_ entries: String, _ pointer: String, _ message: String) throws {
        let parser = JSONParser()
        let mistakes = Catalogue.mistakes(in: try parser.parse(Array(entries.utf8)), with: parser)
        #expect(mistakes.contains { $0.pointer == pointer && $0.message == message }, "\(mistakes)")
        #expect(mistakes.allSatisfy { !$0.message.hasSuffix(".") })
    }

    @Test func reportsANameThatIsUsedTwice() throws {
        let one = #"{"vendor":"a","markers":[{"strength":"hint","at":"/a"}]}"#
        let parser = JSONParser()
        let mistakes = Catalogue.mistakes(in: try parser.parse(Array("[\(one),\(one)]".utf8)), with: parser)
        #expect(mistakes.map(\.pointer) == ["/1"])
    }

    @Test func entriesOfAnyShapeAreReadWithoutTrapping() throws {
        var random = Seeded(20_261_121)
        let good = """
            [{"vendor":"a","name":"A","markers":[{"strength":"proof","at":"/a","equals":"x"},{"strength":"hint","all":[{"keyPrefix":"b_"},{"at":"fcm:/c","is":"list"},{"at":"/d","form":"hex","length":8}]}],
              "fields":{"title":["/t","fcm:/u"],"link":"/l","webView":"/v","word":"/w","types":{"o":"openApp"},"media":[{"url":"/m/*","type":"/n","role":"icon"}],
              "buttons":{"list":"/b","drops":[{"at":"/w","notAmong":["o"]},{"all":[{"at":"/l","is":"unset"},{"at":"/y","among":["z"]}]}],"id":"/i","title":"/t","options":{"foreground":{"at":"/f","is":"true"}},"textInput":{"at":"/x"}},
              "carousel":{"url":"/c{i}","first":1,"orientation":"/o"},"sound":"/s","badge":"/n","channel":"/h","category":"/g",
              "arguments":"/a/b","links":{"a://b":"dismiss"},"shown":[{"at":"/b","is":"blank"}],"threadId":"/r","ignored":[{"under":"/a","if":{"at":"/v","moreThan":1}},{"under":"/t","if":{"all":[{"at":"/x"},{"at":"/y","is":"unset"}]}}],"secrets":"/z","tokens":["/k","/l/*"],"tag":"/g","liveActivity":[{"at":"/v","is":"integer"}],"campaign":{"id":"/id","numeric":true},"schedule":{"notAfter":["/until","/a/end"]},"silent":[{"at":"/s"}],"custom":"/e"}}]
            """
        for _ in 0..<2000 {
            var tree = try Tree(Array(good.utf8))
            for _ in 0...Int.random(in: 0...2, using: &random) { tree.damage(using: &random) }
            let parser = JSONParser()
            _ = Catalogue.mistakes(in: try parser.parse(tree.bytes), with: parser)
            let chain = try VendorChain(
                named: nil, custom: Catalogue(try JSONText(parsing: String(decoding: tree.bytes, as: UTF8.self))))
            _ = try Normalised(Tree.random(using: &random).bytes, by: chain)
        }
    }
}
