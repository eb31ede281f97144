import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Warnings of `routes check` about names that no event has, and addresses to which nothing is sent.
@Suite struct ConfigEventCheckTests {
    private func warnings(_ text: String) -> [String] {
        let check = ConfigCheck([ConfigText(name: "routes.json", bytes: Array(text.utf8))])
        return check.mistakes.map { $0.pointer + ": " + $0.message }
    }

    private func warnings(ofPattern pattern: String, more: String = "") -> [String] {
        warnings(
            """
            { "destinations": { "inbox": { "builtin": "inbox" } }, \(more)
              "routes": [ { "name": "a", "match": \(pattern), "to": ["inbox"] } ] }
            """)
    }

    @Test(arguments: [
        (
            #"{"data":{"vendr":["mce"]}}"#,
            #"/routes/0/match/data/vendr: no event has the field /data/vendr; did you mean "vendor"?"#
        ),
        (
            #"{"data":{"kind":["silent","alrt"]}}"#,
            #"/routes/0/match/data/kind/1: no event has the value "alrt" at /data/kind; did you mean "alert"?"#
        ),
        (
            #"{"data":{"vendor":["brase"]}}"#,
            #"/routes/0/match/data/vendor/0: no event has the value "brase" at /data/vendor; did you mean "braze"?"#
        ),
        (
            #"{"data":{"vendor":[{"anything-but":["mcee","braze"]}]}}"#,
            #"/routes/0/match/data/vendor/0: no event has the value "mcee" at /data/vendor; did you mean "mce"?"#
        ),
        (
            #"{"data":{"platform":[{"prefix":"ios"}]}}"#,
            "/routes/0/match/data/platform/0: no value at /data/platform meets this condition; known here: apns, fcm, unknown"
        ),
        (
            #"{"$or":[{"data":{"kind":["alert"]}},{"data":{"media":{"kind":["picture"]}}}]}"#,
            #"/routes/0/match/$or/1/data/media/kind/0: no event has the value "picture" at /data/media/kind; known here: audio, image, video"#
        ),
        (
            #"{"data":{"vendor":{"name":["mce"]}}}"#,
            "/routes/0/match/data/vendor/name: no event has the field /data/vendor/name; its parent has no fields, remove this"
        ),
        (
            #"{"type":["io.signalbox.push.answered"],"data":{"kind":["alert"]}}"#,
            "/routes/0/match/data/kind: no event has the field /data/kind; known here: apnsId, apnsUniqueId, durationMs, host, message, notification, outcome, platform, reason, status, target, timestamp"
        ),
    ])
    func warnsOfWhatNoEventHas(_ pattern: String, _ warning: String) {
        #expect(warnings(ofPattern: pattern) == [warning])
    }

    /// `badge` is an integer, `kind` one of a few words, `category` an object.
    @Test(arguments: [
        (
            #"{"content":{"badge":["1"]}}"#,
            #"/content/badge/0: no event has the value "1" at /data/content/badge; its values are numbers"#
        ),
        (
            #"{"content":{"badge":[{"prefix":"1"}]}}"#,
            "/content/badge/0: no value at /data/content/badge meets this condition; its values are numbers"
        ),
        (#"{"kind":[1]}"#, "/kind/0: no event has the value 1 at /data/kind; its values are strings"),
        (
            #"{"kind":["alert",true,null]}"#,
            "/kind/1: no event has the value true at /data/kind; its values are strings"
        ),
        (
            #"{"kind":[{"numeric":[">",1]}]}"#,
            "/kind/0: no value at /data/kind meets this condition; its values are strings"
        ),
        (
            #"{"kind":[{"anything-but":[1]}]}"#,
            "/kind/0: no event has the value 1 at /data/kind; its values are strings"
        ),
        (
            #"{"kind":[{"exactly":"alrt"}]}"#,
            #"/kind/0: no event has the value "alrt" at /data/kind; did you mean "alert"?"#
        ),
        (#"{"kind":[{"wildcard":"alr?x*"}]}"#, "/kind/0: no value at /data/kind meets this condition; "),
        (#"{"kind":[{"prefix":{"equals-ignore-case":"ALX"}}]}"#, "/kind/0: no value at /data/kind meets this"),
        (
            #"{"category":["x"]}"#,
            "/category: /data/category is an object, which conditions do not compare; write them on a field below it: actions, identifier, origin"
        ),
        (#"{"custom":[{"exists":false}]}"#, "/custom: /data/custom is an object, which conditions do not compare; "),
        (
            #"{"warnings":{"code":["mce.nope"]}}"#,
            #"/warnings/code/0: no event has the value "mce.nope" at /data/warnings/code"#
        ),
    ])
    func warnsOfImpossibleValues(_ data: String, _ warning: String) {
        let found = warnings(ofPattern: #"{"data":\#(data)}"#)
        #expect(found.first?.hasPrefix("/routes/0/match/data" + warning) == true, "\(found)")
    }

    @Test(arguments: [
        #"{"content":{"badge":[1,{"numeric":[">",1]},{"exists":false},{"anything-but":[2]}]}}"#,
        #"{"kind":[{"wildcard":"al*t"},{"prefix":{"equals-ignore-case":"AL"}},{"exactly":"alert"},{"exists":true}]}"#,
        #"{"kind":[{"anything-but":{"prefix":["in","al"]}}],"media":{"bytes":[{"numeric":["<",9]}]}}"#,
        #"{"warnings":{"code":["mce.date-invalid","braze.text-expected","media.extension-mismatch"]}}"#,
        #"{"action":{"arguments":{"x":[1,"x",null,true]}},"status":[503],"attempts":[{"numeric":[">",1]}]}"#,
    ])
    func leavesPossibleValuesAlone(_ data: String) {
        #expect(warnings(ofPattern: #"{"data":\#(data)}"#) == [])
    }

    @Test(arguments: [
        #"{"data":{"custom":{"any":{"thing":["x"]}},"vendorKind":["x"],"campaign":{"id":["x"]}}}"#,
        #"{"data":{"action":{"arguments":{"x":[1]}},"inApp":{"pages":{"x":["y"]}},"apns":{"x":["y"]}}}"#,
        #"{"data":{"vendor":["braze","onesignal","unknown","granify"],"kind":["alert",{"prefix":"in"}]}}"#,
        #"{"data":{"media":{"kind":["image"],"role":["icon"]},"warnings":{"code":[{"prefix":"mce."}]}}}"#,
        #"{"type":["io.signalbox.delivery.dead"],"data":{"destination":["inbox"],"status":[503]}}"#,
        #"{"type":["io.signalbox.inapp.offered"],"data":{"vendor":["of-our-own"],"kind":["modal"]}}"#,
        #"{"type":[{"prefix":"io.signalbox."}],"data":{"outcome":["passed"],"kind":["modal"]}}"#,
        #"{"source":["/signalbox/a/b"],"traceparent":[{"exists":true}],"subject":[{"suffix":"alert"}]}"#, "{}",
    ])
    func leavesOtherPatternsAlone(_ pattern: String) {
        let more = #""sources": { "web": { "auth": { "bearer": ["env:A"] }, "vendor": "granify" } },"#
        #expect(warnings(ofPattern: pattern, more: more) == [])
    }

    @Test func knowsVendorsOfTheConfig() {
        let entry = #"{"vendor":"acme","markers":[{"strength":"signature","at":"/acme"}],"fields":{"title":"/acme/t"}}"#
        let custom = #""detectors": { "custom": [\#(entry)] },"#
        #expect(warnings(ofPattern: #"{"data":{"vendor":["acme"]}}"#, more: custom) == [])
        #expect(warnings(ofPattern: #"{"data":{"vendor":["acme"]}}"#).count == 1)
    }

    // MARK: Pointers and templates

    @Test func warnsOfADedupeKeyThatNoEventHas() {
        func source(_ key: String) -> String {
            #"{ "auth": { "bearer": ["env:T"] }, "dedupe": { "key": "\#(key)", "window": "10m" } }"#
        }
        let sources = #"{ "a": \#(source("/data/campain/id")), "b": \#(source("/data/campaign/id")) }"#
        #expect(
            warnings(#"{ "sources": \#(sources) }"#) == [
                #"/sources/a/dedupe/key: no event has the field /data/campain/id; did you mean "campaign"?"#
            ])
    }

    @Test func warnsOfPointersToUnknownFields() {
        let route = """
            { "name": "a", "match": {}, "to": ["inbox"], "redact": ["/data/content/tittle", "/data/custom/x", "/data/media/*/url"] }
            """
        let found = warnings(#"{ "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [ \#(route) ] }"#)
        #expect(
            found == [
                #"/routes/0/redact: no event has the field /data/content/tittle; did you mean "title"?"#
            ])
    }

    private func warnings(ofTemplate body: String) -> [String] {
        warnings(
            """
            { "destinations": { "chat": { "url": "https://chat.example/", "secret": "env:S", "format": "template",
                "template": { "contentType": "text/plain", "body": "\(body)" } } },
              "routes": [ { "name": "a", "match": {}, "to": ["chat"] } ] }
            """)
    }

    @Test(arguments: [
        ("{{data.content.titel}}", "line 1, column 1 of the template: no event has \\\"titel\\\" here; did you mean"),
        ("{{#data.media}}{{urll}}{{/data.media}}", "line 1, column 16 of the template: no event has \\\"urll\\\" here"),
        (
            "{{#dta}}{{anything}}{{/dta}}",
            "line 1, column 1 of the template: no event has \\\"dta\\\" here; did you mean"
        ),
    ])
    func warnsOfNamesInTemplates(_ body: String, _ warning: String) throws {
        let found = warnings(ofTemplate: body)
        #expect(found.count == 1)
        let text = warning.replacing("\\\"", with: "\"")
        #expect(found.first?.hasPrefix("/destinations/chat/template/body: " + text) == true, "\(found)")
    }

    @Test(arguments: [
        "{{data.content.title}} {{{data.custom.a.b}}} {{! data.none }}",
        "{{#data.media}}{{url}} {{subject}} {{data.vendor}}{{/data.media}}{{^data.media}}{{id}}{{/data.media}}",
        "{{#first(data.media)}}{{anything}}{{/first(data.media)}}", "{{#data.custom}}{{x}}{{/data.custom}}",
        "{{#data.category.actions}}{{title}}{{#options}}{{.}}{{/options}}{{/data.category.actions}}",
    ])
    func leavesOtherTemplatesAlone(_ body: String) {
        #expect(warnings(ofTemplate: body) == [])
    }

    // MARK: Addresses

    private func warnings(ofURL url: String, more: String = "") -> [String] {
        warnings(
            """
            { "destinations": { "crm": { "url": "\(url)", "secret": "env:S"\(more) } },
              "routes": [ { "name": "a", "match": {}, "to": ["crm"] } ] }
            """)
    }

    @Test(arguments: ["http://127.0.0.1:9/", "http://2130706433/", "http://[::1]/", "http://localhost/"])
    func warnsOfDeniedAddresses(_ url: String) {
        let found = warnings(ofURL: url)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("/destinations/crm/url: nothing is sent to ") == true)
        #expect(found.first?.contains("which is loopback; add its range to \"allow\" here") == true)
        #expect(warnings(ofURL: url, more: #", "allow": ["127.0.0.0/8", "::1/128"]"#) == [])
    }

    @Test(arguments: ["https://crm.example/", "https://8.8.8.8/", "env:URL"])
    func leavesOtherAddressesAlone(_ url: String) { #expect(warnings(ofURL: url) == []) }

    /// A reference is read when the gateway starts, not by `routes check`.
    @Test(arguments: [
        ("http://127.0.0.1:9/path", "", true), ("http://127.0.0.1:9/path", #", "allow": ["127.0.0.0/8"]"#, false),
        ("https://crm.example/path", "", false),
    ])
    func warnsOfDeniedAddressesBehindReferences(_ url: String, _ more: String, _ isDenied: Bool) throws {
        let text = #"{ "destinations": { "crm": { "url": "env:URL", "secret": "env:S"\#(more) } } }"#
        let loaded = try RoutedConfig(checking: [ConfigText(name: "routes.json", bytes: Array(text.utf8))])
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let resolver = SecretResolver(path: "routes.json", environment: ["URL": url, "S": secret])
        let more = try ResolvedConfig(loaded, by: resolver).config.warnings.filter {
            !loaded.config.warnings.contains($0)
        }
        #expect(more.map(\.pointer) == (isDenied ? ["/destinations/crm/url"] : []))
        #expect(more.allSatisfy { $0.message.hasPrefix("nothing is sent to 127.0.0.1, which is loopback; ") })
        #expect(more.allSatisfy { $0.position != nil && !$0.message.contains("path") })
    }

    /// Destinations of `routes.d` have their own file.
    @Test func locatesDestinationsOfOtherFiles() {
        let own = ConfigText(name: "routes.json", bytes: Array(#"{ "destinations": {} }"#.utf8))
        let part = """
            { "destinations": { "crm": { "url": "http://127.0.0.1/", "secret": "env:S" } },
              "routes": [ { "name": "a", "match": { "data": { "x": [1] } }, "to": ["crm"] } ] }
            """
        let check = ConfigCheck([own, ConfigText(name: "routes.d/a.json", bytes: Array(part.utf8))])
        #expect(check.mistakes.map(\.file) == [1, 1])
        #expect(check.mistakes.allSatisfy { $0.position != nil })
    }

    // MARK: Events

    /// Every event type has fields, and the type of each schema is known.
    @Test func knowsEveryTypeOfEvents() {
        #expect(EventField.byType.keys.contains("io.signalbox.notification.received"))
        #expect(EventField.byType.keys.contains("io.signalbox.delivery.dead"))
        for (type, event) in EventField.byType { #expect(event.members["data"]?.members.isEmpty == false, "\(type)") }
    }
}
