import Foundation
import SignalboxNotification
import Testing

@testable import SignalboxGateway

@Suite struct CaptureSelectionTests {
    /// The mismatch of a capture with a selection that expects accepted pushes.
    private static func mismatch(
        _ capture: Capture, _ change: (inout CaptureSelection) throws -> Void
    ) rethrows -> String? {
        var selection = CaptureSelection()
        selection.outcome = .accepted
        try change(&selection)
        let mismatch = selection.mismatch(of: capture)
        #expect(selection.matches(capture) == (mismatch == nil))
        return mismatch?.words
    }

    @Test func namesTheFirstConditionThatFails() throws {
        let capture = CaptureSetting.accepted(run: "t1")
        #expect(Self.mismatch(capture) { $0.run = "t2" } == "run is t1, expected t2")
        #expect(Self.mismatch(CaptureSetting.accepted()) { $0.run = "t2" } == "run is absent, expected t2")
        #expect(Self.mismatch(capture) { $0.source = SourceName("web") } == "source is mobile, expected web")
        #expect(Self.mismatch(capture) { $0.service = .fcm } == "platform is apns, expected fcm")
        #expect(Self.mismatch(capture) { $0.token = "sha256:bb" } == "token is sha256:aa, expected sha256:bb")
        #expect(
            Self.mismatch(capture) { $0.since = Date(timeIntervalSince1970: 1_800_000_001) }
                == "since is 2027-01-15T08:00:00.000Z, expected 2027-01-15T08:00:01.000Z")
        #expect(
            try Self.mismatch(capture) { $0.match = try CaptureSetting.match(#"{"data":{"kind":["silent"]}}"#) }
                == #"/data/kind is "alert", expected ["silent"]"#)
        #expect(
            try Self.mismatch(capture) { $0.match = try CaptureSetting.match(#"{"data":{"vendor":["mce"]}}"#) }
                == #"/data/vendor is absent, expected ["mce"]"#)
    }

    @Test func selectsByAllConditionsTogether() throws {
        let mismatch = try Self.mismatch(CaptureSetting.accepted(run: "t1")) { selection in
            selection.run = "t1"
            selection.source = SourceName("mobile")
            selection.service = .apns
            selection.token = "sha256:aa"
            selection.since = Date(timeIntervalSince1970: 1_800_000_000)
            selection.match = try CaptureSetting.match(#"{"data":{"kind":["alert"]}}"#)
        }
        #expect(mismatch == nil)
    }

    /// APNs reads hexadecimal tokens in lower case, FCM reads them as they are.
    @Test func selectsBothSpellingsOfAToken() {
        let both = Self.mismatch(CaptureSetting.accepted()) { selection in
            (selection.token, selection.otherToken) = ("sha256:bb", "sha256:aa")
        }
        #expect(both == nil)
        let neither = Self.mismatch(CaptureSetting.accepted()) { selection in
            (selection.token, selection.otherToken) = ("sha256:bb", "sha256:cc")
        }
        #expect(neither == "token is sha256:aa, expected sha256:bb")
    }

    /// The source and the token of such a push are not known, so they are not the reason.
    @Test func aRefusalIsReportedBeforeAMissingValue() {
        let words = Self.mismatch(CaptureSetting.refused()) { selection in
            selection.source = SourceName("mobile")
            selection.token = "sha256:aa"
        }
        #expect(words == "outcome is rejected, expected accepted")
        var selection = CaptureSelection()
        selection.source = SourceName("mobile")
        #expect(selection.mismatch(of: CaptureSetting.refused())?.words == "source is absent, expected mobile")
    }

    @Test func aPushWithoutAnEventMatchesNoPattern() throws {
        var selection = CaptureSelection()
        selection.match = try CaptureSetting.match("{}")
        #expect(!selection.matches(CaptureSetting.refused()))
        #expect(
            selection.mismatch(of: CaptureSetting.refused())?.words
                == "match is a push without an event, expected an accepted push")
    }

    @Test func aPatternThatTakesTooMuchWorkDoesNotMatch() throws {
        var capture = CaptureSetting.accepted()
        let element = String(repeating: "a", count: 2000)
        let list = Array(repeating: "\"\(element)\"", count: 2000).joined(separator: ",")
        capture.event = Array("{\"data\":{\"x\":[\(list)]}}".utf8)
        var selection = CaptureSelection()
        selection.match = try CaptureSetting.match(#"{"data":{"x":[{"wildcard":"*a*b*"}]}}"#)
        #expect(!selection.matches(capture))
        #expect(selection.mismatch(of: capture)?.actual == "too much work for this event")
    }
}
