import Testing

@testable import SignalboxConfig

@Suite struct ConfigDiffTests {
    private static func diff(_ former: String, _ newer: String) -> ConfigDiff {
        func files(_ text: String) -> [ConfigText] { [ConfigText(name: "routes.json", bytes: Array(text.utf8))] }
        return ConfigDiff(from: files(former), to: files(newer))
    }

    private static func destination(_ more: String) -> String { #"{ "destinations": { "crm": { \#(more) } } }"# }

    @Test func listsAddedChangedAndRemovedValues() {
        let former = Self.destination(#""timeout": "15s", "concurrency": 4"#)
        let newer = Self.destination(#""timeout": "20s", "rate": "5/s""#)
        #expect(
            Self.diff(former, newer).changes == [
                .init(pointer: "/destinations/crm/timeout", from: #""15s""#, to: #""20s""#),
                .init(pointer: "/destinations/crm/rate", from: nil, to: #""5/s""#),
                .init(pointer: "/destinations/crm/concurrency", from: "4", to: nil),
            ])
        #expect(Self.diff(former, former) == Self.diff("{}", "{}"))
    }

    /// A new file must not change the files after it.
    @Test func comparesFilesByTheirContents() {
        let part = """
            { "destinations": { "crm": { "secret": ["env:A", "env:B"] } },
              "routes": [ { "name": "a", "match": { "data": { "vendor": ["mce"] } }, "to": ["crm"] } ] }
            """
        func files(_ texts: String...) -> [ConfigText] { texts.map { ConfigText(name: "part", bytes: Array($0.utf8)) } }
        let added = #"{ "routes": [ { "name": "new", "match": {}, "to": ["crm"] } ] }"#
        let changes = ConfigDiff(from: files("{}", part), to: files("{}", added, part)).changes
        #expect(changes.map(\.pointer) == ["/routes/0/name", "/routes/0/match", "/routes/0/to/0"])
        #expect(changes.allSatisfy { $0.from == nil })
    }

    /// A new route must not change all routes after it.
    @Test func comparesRoutesByName() {
        func routes(_ names: String...) -> String {
            let list = names.map { #"{ "name": "\#($0)", "match": {}, "to": ["crm"] }"# }
            return #"{ "routes": [ \#(list.joined(separator: ", ")) ] }"#
        }
        let changes = Self.diff(routes("a", "b"), routes("new", "a", "b")).changes
        #expect(changes.map(\.pointer) == ["/routes/0/name", "/routes/0/match", "/routes/0/to/0"])
        #expect(changes.allSatisfy { $0.from == nil })
    }

    @Test(arguments: [
        (#""secret": "env:CRM_SECRET""#, #""env:CRM_SECRET""#), (#""secret": "file:/run/key""#, #""file:/run/key""#),
        (#""secret": "whsec_abcdef""#, #""[hidden]""#), (#""secret": "hunter2""#, #""[hidden]""#),
        (#""headers": { "x-key": "hunter2" }"#, #""[hidden]""#), (#""headers": { "x-key": "env:KEY" }"#, #""env:KEY""#),
        (#""password": "hunter2""#, #""[hidden]""#), (#""passwort": { "a": ["hunter2"] }"#, #""[hidden]""#),
        (#""timeout": "whsk_hunter2""#, #""[hidden]""#),
        (#""url": "https://ann:hunter2@crm.example/path?token=hunter2""#, #""https://crm.example/path?[hidden]""#),
    ])
    func showsReferencesAndHidesSecrets(option: String, shown: String) {
        let change = Self.diff("{}", Self.destination(option)).changes.first
        #expect(change?.to == shown)
        #expect("\(Self.diff("{}", Self.destination(option)))".contains("hunter2") == false)
        #expect("\(Self.diff(Self.destination(option), "{}"))".contains("hunter2") == false)
    }

    /// The URL of a chat service is its credential.
    @Test(arguments: ["slack", "teams", "discord", "slak"]) func hidesThePathOfAChatURL(format: String) {
        for (url, shown) in [
            ("https://hooks.slack.com/services/hunter2", "https://hooks.slack.com/[hidden]"),
            ("https://chat.example?sig=hunter2", "https://chat.example/[hidden]"), ("chat.example/hunter2", "[hidden]"),
            ("env:CHAT_URL", "env:CHAT_URL"), ("file:///run/chat", "file:///run/chat"),
        ] {
            let diff = Self.diff("{}", Self.destination(#""url": "\#(url)", "format": "\#(format)""#))
            #expect(diff.changes.first?.to == "\"\(shown)\"")
        }
        let signed = Self.diff("{}", Self.destination(#""url": "https://a.example/b", "format": "raw""#))
        #expect(signed.changes.first?.to == #""https://a.example/b""#)
    }

    @Test func hidesNamesOfUnknownOptions() {
        let change = Self.diff("{}", #"{ "admin": { "auth": { "hunter2": 1 } }, "hunter2": 1 }"#)
        #expect(change.changes.map(\.pointer) == ["/admin/auth/…", "/…"])
        let token = #"{ "bearer": "hunter2", "role": "reader" }"#
        let tokens = Self.diff("{}", #"{ "admin": { "tokens": { "ann": \#(token) } } }"#)
        #expect(tokens.changes.map(\.to) == [#""[hidden]""#, #""reader""#])
        let source = Self.diff("{}", #"{ "sources": { "app": { "auth": { "bearer": ["env:APP", "hunter2"] } } } }"#)
        #expect(source.changes.map(\.to) == [#""env:APP""#, #""[hidden]""#])
    }

    @Test func hidesAValueInPlaceOfAnObject() {
        let diff = Self.diff("{}", #"{ "destinations": { "crm": "hunter2" }, "sources": {} }"#)
        #expect(diff.changes.map(\.pointer) == ["/destinations/crm", "/sources"])
        #expect(diff.changes.map(\.to) == [#""[hidden]""#, "{}"])
    }

    /// Options that may also be an object.
    @Test func showsShortForms() {
        let gateway = Self.diff("{}", #"{ "gateway": { "listen": ":8080", "store": "postgres://ann@db/q?x=1" } }"#)
        #expect(gateway.changes.map(\.to) == [#"":8080""#, #""postgres://db/q?[hidden]""#])
        let crm = Self.diff("{}", Self.destination(#""ordering": "fifo", "handshake": true"#))
        #expect(crm.changes.map(\.to) == [#""fifo""#, "true"])
        let ordering = Self.diff("{}", Self.destination(#""ordering": { "fifo": "/id" }, "handshake": {}"#))
        #expect(ordering.changes.map(\.to) == [#""/id""#, "{}"])
    }

    @Test func isBounded() throws {
        let list = (0..<500).map { #""d\#($0)": { "concurrency": 3 }"# }.joined(separator: ", ")
        let diff = Self.diff("{}", #"{ "destinations": { \#(list) } }"#)
        #expect(diff.changes.count == ConfigDiff.mostChanges && diff.more == 300)
        let long = Self.diff("{}", #"{ "gateway": { "name": "\#(String(repeating: "n", count: 9000))" } }"#)
        let shown = try #require(long.changes.first?.to)
        #expect(shown.count < 300 && shown.hasPrefix("\"nnn"))
        #expect(Self.diff("{", #"{ "fallback": [] }"#).changes.map(\.to) == ["[]"])
    }

    @Test(arguments: [
        ("0a1b2c", #""[hidden]""#), ("sha256:0a1b2c", #""sha256:0a1b2c""#),
        ("file:/etc/tokens", #""file:/etc/tokens""#),
    ])
    func hidesDeviceTokensInClear(token: String, shown: String) {
        for config in [
            #"{ "failures": [ { "token": "\#(token)" } ] }"#, #"{ "failures": [ { "token": ["\#(token)"] } ] }"#,
            #"{ "sources": { "app": { "upstream": { "tokens": ["\#(token)"] } } } }"#,
        ] { #expect(Self.diff("{}", config).changes.map(\.to) == [shown], "\(config)") }
    }
}
