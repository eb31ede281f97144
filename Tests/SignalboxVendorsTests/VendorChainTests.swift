import SignalboxJSON
import Testing

@testable import SignalboxNotification

@Suite struct VendorChainTests {
    @Test func aChainHasTheVendorsNamedInTheirOrder() throws {
        let chain = try VendorChain(named: ["braze", "synerise"])
        #expect(chain.links.map(\.name) == ["braze", "synerise"])
    }

    @Test func anUnknownNameInAChainListsTheKnownOnes() {
        do {
            _ = try VendorChain(named: ["braze", "nobody"])
            Issue.record("nobody was found")
        } catch {
            #expect(error.name == "nobody")
            #expect(error.known == Vendors.names)
        }
    }

    @Test func everyVendorListsItsEvidence() {
        let profiles = Vendors.profiles
        #expect(profiles.allSatisfy { !$0.looksFor.isEmpty })
        #expect(Set(profiles.map(\.vendor)).count == profiles.count)
        #expect(profiles.count > 55)
    }

    @Test func strongerEvidenceWinsOverAnEarlierPlace() throws {
        let payload =
            #"{"aps":{"alert":"x"},"notification-action":{"type":"openApp"},"handler":"com.sourse.notification"}"#
        let chain = try VendorChain(named: ["mce", "sourse"])
        let read = try Normalised(Array(payload.utf8), by: chain).notification
        #expect(read.vendor.name == "sourse")
        #expect(read.detection == DetectionSummary(evidence: ["/handler"], also: [VendorID("mce")]))
    }

    @Test func theEarlierPlaceWinsAmongEquals() throws {
        let payload = #"{"aps":{"alert":"x"},"notification-action":{"type":"openApp"},"ab":{"c":null}}"#
        #expect(try Normalised(payload).notification.vendor.name == "mce")
        let reversed = try VendorChain(named: ["braze", "mce"])
        #expect(try Normalised(Array(payload.utf8), by: reversed).notification.vendor.name == "braze")
    }

    @Test func aHintAloneNamesNoVendor() throws {
        let read = try Normalised(#"{"aps":{"alert":"x"},"ab_uri":"https://a.example","category-name":"c"}"#)
            .notification
        #expect(read.vendor == .unknown)
        #expect(read.detection == DetectionSummary(evidence: [], also: [VendorID("mce"), VendorID("braze")]))
        #expect(read.custom?.string == #"{"ab_uri":"https://a.example","category-name":"c"}"#)
    }

    /// Tokens, and secrets of a vendor whose hint alone was found, may be objects or arrays.
    @Test func findsTokensAndSecretsInsideObjectsAndArrays() throws {
        let entries = #"""
            [{"vendor": "acme", "markers": [{"strength": "hint", "at": "/acme"}],
              "fields": {"tokens": "/acme/device", "secrets": "/acme/credentials"}}]
            """#
        let chain = try VendorChain(named: nil, custom: Catalogue(JSONText(parsing: entries)))
        let payload = #"{"aps":{},"acme":{"device":["d",{"web":"e","n":7}],"credentials":{"key":"k"}}}"#
        let tokens = try Normalised(Array(payload.utf8), by: chain).notification.deviceTokens
        #expect(tokens.map { String(decoding: $0.text, as: UTF8.self) } == ["d", "e", "k"])
        #expect(tokens.map { String(decoding: $0.key, as: UTF8.self) } == ["device", "web", "key"])
    }
}
