import Foundation
import SignalboxJSON
import Testing

@testable import SignalboxNotification

@Suite struct InteractionTests {
    private func read(_ text: String) throws -> Interaction {
        let parser = JSONParser()
        return try Interaction(try parser.parse(Array(text.utf8)))
    }

    private func message(of text: String) throws -> String {
        let parser = JSONParser()
        let value = try parser.parse(Array(text.utf8))
        do {
            _ = try Interaction(value)
            return ""
        } catch {
            guard case .malformed(let message) = error else { return "\(error)" }
            return message
        }
    }

    @Test func readsTheReportsOfApps() throws {
        let interaction = try read(
            #"{"eventId":"e1","actionIdentifier":"reply","text":"","deviceTime":"2026-11-20T22:29:00+01:00","activity":"banner"}"#
        )
        #expect(interaction.eventID == "e1")
        #expect(interaction.choice == .button("reply"))
        #expect(interaction.text == "", "an empty reply is a reply")
        #expect(interaction.deviceTime.text == "2026-11-20T21:29:00.000Z")
        #expect(interaction.activity == .banner)
    }

    /// RFC 3339, 5.6: "T" and "Z" may be in lower case.
    @Test func readsADeviceTimeInLowerCase() throws {
        let interaction = try read(#"{"eventId":"e1","actionIdentifier":"a","deviceTime":"2026-11-20t21:29:00z"}"#)
        #expect(interaction.deviceTime.text == "2026-11-20T21:29:00.000Z")
    }

    @Test(arguments: [
        ("default", Interaction.Choice.body), ("com.apple.UNNotificationDefaultActionIdentifier", .body),
        ("dismiss", .dismissal), ("com.apple.UNNotificationDismissActionIdentifier", .dismissal),
        ("Default", .button("Default")),
    ])
    func knowsApplesIdentifiers(_ identifier: String, _ choice: Interaction.Choice) throws {
        let interaction = try read(
            #"{"eventId":"e1","actionIdentifier":"\#(identifier)","deviceTime":"2026-11-20T21:29:00Z"}"#)
        #expect(interaction.choice == choice)
    }

    @Test(arguments: [
        ("[]", "object"), (#"{"actionIdentifier":"a","deviceTime":"2026-11-20T21:29:00Z"}"#, "eventId"),
        (#"{"eventId":"","actionIdentifier":"a","deviceTime":"2026-11-20T21:29:00Z"}"#, "eventId"),
        (#"{"eventId":"e","deviceTime":"2026-11-20T21:29:00Z"}"#, "actionIdentifier"),
        (#"{"eventId":"e","actionIdentifier":7,"deviceTime":"2026-11-20T21:29:00Z"}"#, "actionIdentifier"),
        (#"{"eventId":"e","actionIdentifier":"a"}"#, "deviceTime"),
        (#"{"eventId":"e","actionIdentifier":"a","deviceTime":"yesterday"}"#, "RFC 3339"),
        (#"{"eventId":"e","actionIdentifier":"a","deviceTime":"2026-11-20T21:29:00Z","text":null}"#, "text"),
        (#"{"eventId":"e","actionIdentifier":"a","deviceTime":"2026-11-20T21:29:00Z","activity":"tv"}"#, "simplePush"),
        (#"{"eventId":"e","actionIdentifier":"a","devicetime":"2026-11-20T21:29:00Z"}"#, "devicetime"),
    ])
    func saysWhatIsWrong(_ text: String, _ word: String) throws {
        #expect(try message(of: text).contains(word))
    }

    @Test func boundsItsTexts() throws {
        let long = String(repeating: "x", count: Interaction.textLimit + 1)
        #expect(
            try message(
                of: #"{"eventId":"e","actionIdentifier":"a","deviceTime":"2026-11-20T21:29:00Z","text":"\#(long)"}"#
            ).contains("\(Interaction.textLimit)"))
    }

    @Test func equalReportsAreTheSameAndNoOthers() throws {
        let texts = ["", #","text":"1""#, #","text":"""#].flatMap { text in
            ["a", "b"].flatMap { action in
                ["e1", "e2"].map { event in
                    #"{"eventId":"\#(event)","actionIdentifier":"\#(action)","deviceTime":"2026-11-20T21:29:00Z"\#(text)}"#
                }
            }
        }
        let identities = try texts.map { try read($0).identity }
        #expect(Set(identities).count == texts.count)
        #expect(try texts.map { try read($0).identity } == identities)
    }
}

@Suite struct TapTests {
    private func tap(_ identifier: String, on data: String, activity: String? = nil) throws -> Tap {
        let activity = activity.map { #","activity":"\#($0)""# } ?? ""
        let report = JSONParser()
        let interaction = try Interaction(
            try report.parse(
                Array(
                    #"{"eventId":"e","actionIdentifier":"\#(identifier)","deviceTime":"2026-11-20T21:29:00Z"\#(activity)}"#
                        .utf8)))
        let event = EventDocument(
            Array(
                #"{"id":"e","type":"io.signalbox.notification.received","subject":"s/k","time":"2026-11-20T21:29:00.000Z","data":\#(data)}"#
                    .utf8))
        return try Tap(interaction, on: try #require(event))
    }

    private let synerise = #""vendor":"synerise","platform":"apns","kind":"#

    @Test func findsButtonsAndTheDefaultAction() throws {
        let data = #"""
            {"vendor":"mce","platform":"apns","kind":"alert","action":{"type":"openUrl","value":"https://a.example"},
             "category":{"origin":"dynamic","actions":[
                {"identifier":"b","title":"B","type":"custom","vendorType":"viewProduct","arguments":{"sku":"1"},"options":["foreground"]}]}}
            """#
        let button = try tap("b", on: data)
        #expect(button.action.type == .custom && button.action.vendorType == "viewProduct")
        #expect(button.action.arguments?.string == #"{"sku":"1"}"#)
        #expect(button.title == "B" && button.options == [.foreground])
        #expect(try tap("default", on: data).action == Action(.openUrl, value: "https://a.example"))
        #expect(try tap("dismiss", on: data).action == Action(.dismiss))
        #expect(throws: InteractionMistake.unknownAction("c", known: ["b"])) { try tap("c", on: data) }
    }

    @Test(arguments: ["default", "dismiss"])
    func aButtonOfThatNameIsMeantBeforeTheNotification(_ name: String) throws {
        let data = """
            {"vendor":"mce","platform":"apns","kind":"alert","action":{"type":"openUrl","value":"https://a.example"},
             "category":{"origin":"dynamic","actions":[{"identifier":"\(name)","title":"B","type":"dial","value":"112"}]}}
            """
        let button = try tap(name, on: data)
        #expect(button.action == Action(.dial, value: "112") && button.title == "B")
        #expect(button.interaction.choice == .button(name))
        let apple = "com.apple.UNNotification\(name.capitalized)ActionIdentifier"
        let notification = try tap(apple, on: data)
        #expect(notification.action.type == (name == "default" ? .openUrl : .dismiss) && notification.title == nil)
        #expect(notification.interaction.identity != button.interaction.identity)
    }

    @Test func aNotificationWithoutActionOpensTheApp() throws {
        let tapped = try tap("default", on: #"{"vendor":"unknown","platform":"apns","kind":"alert"}"#)
        #expect(tapped.action == Action(.openApp))
        #expect(tapped.presentation == nil, "no rule of another vendor counts")
    }

    /// Synerise, "Handling actions from campaigns".
    @Test(arguments: [
        ("alert", nil, Activity.Presentation.hide), ("banner", nil, .hide), ("mandatory-upgrade", nil, .hide),
        ("walkthrough", nil, .keep), ("alert", "walkthrough", .keep), ("walkthrough", "banner", .hide),
        ("in-app-message", nil, nil),
    ])
    func syneriseHidesOrKeeps(_ kind: String, _ activity: String?, _ presentation: Activity.Presentation?) throws {
        let tapped = try tap("default", on: "{\(synerise)\"\(kind)\"}", activity: activity)
        #expect(tapped.presentation == presentation)
    }
}
