import Foundation
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// The origins of an event's values, found by reading changed payloads.
@Suite struct ProvenanceTests {
    private static func explain(
        _ payload: String, vendor: VendorID? = nil, stored: [UInt8]? = nil,
        upTo limit: Duration = .seconds(900)
    ) async throws -> PayloadExplanation {
        let pipeline = TestPipeline()
        let source = pipeline.reception.source
        let explainer = PayloadExplainer(
            normalizer: pipeline.normalizer, routes: RouteTable(), vendors: vendor.map { [source: $0] } ?? [:])
        return try await explainer.explanation(
            of: Array(payload.utf8), from: source, at: TestPipeline.time, stored: stored, upTo: limit)
    }

    /// `raw -> event how`, for the links to one pointer of the event.
    private static func origins(_ event: String, in explanation: PayloadExplanation) -> [String] {
        explanation.provenance.links.filter { $0.event == event }.map { "\($0.raw) \($0.how.rawValue)" }
    }

    @Test func linksTextsToTheirKeys() async throws {
        let found = try await Self.explain(
            #"{"aps":{"alert":{"title":"Hello","body":"World"},"badge":3,"sound":"ping.caf"},"app":{"flag":true}}"#)
        #expect(Self.origins("/data/content/title", in: found) == ["/aps/alert/title copied"])
        #expect(Self.origins("/data/content/body", in: found) == ["/aps/alert/body copied"])
        #expect(Self.origins("/data/content/badge", in: found) == ["/aps/badge copied"])
        #expect(Self.origins("/data/content/sound", in: found) == ["/aps/sound copied"])
        #expect(found.provenance.unread == ["/app/flag"])
        #expect(Self.origins("/data/custom/app/flag", in: found) == ["/app/flag copied"])
        #expect(found.provenance.isComplete)
    }

    @Test func equalValuesAreToldApart() async throws {
        let found = try await Self.explain(
            #"{"aps":{"alert":{"title":"same","subtitle":"same","body":"same"}},"other":"same","more":["same"]}"#)
        for part in ["title", "subtitle", "body"] {
            #expect(Self.origins("/data/content/\(part)", in: found) == ["/aps/alert/\(part) copied"])
        }
        #expect(found.provenance.unread == ["/other", "/more/0"])
    }

    /// The reader of FCM prefers the more specific block.
    @Test func anOverriddenValueIsNotAnOrigin() async throws {
        let found = try await Self.explain(
            #"{"message":{"token":"t0ken-0123456789abcdef","notification":{"title":"A","body":"B"},"#
                + #""android":{"notification":{"title":"A"}}}}"#)
        #expect(Self.origins("/data/content/title", in: found) == ["/message/android/notification/title copied"])
        #expect(Self.origins("/data/content/body", in: found) == ["/message/notification/body copied"])
        #expect(Self.origins("/data/target/token", in: found) == ["/message/token hashed"])
    }

    @Test func continuesThroughJSONInStrings() async throws {
        let inner = #"{\"title\":\"Deep\",\"list\":[1,{\"x\":\"y\"}]}"#
        let found = try await Self.explain(#"{"aps":{"alert":"Hi"},"blob":"\#(inner)"}"#)
        // The event has the whole text, which belongs to its string.
        #expect(Self.origins("/data/custom/blob", in: found) == ["/blob copied"])
        #expect(found.provenance.unread.contains("/blob/list/1/x"))
    }

    @Test func linksTheValuesOfAJSONString() async throws {
        let content = #"{\"campaign\":{\"hash_id\":\"3a1f7c52\",\"title\":\"Spring\",\"variant_id\":1042}}"#
        let keys = #""issuer":"Synerise","message-type":"dynamic-content","content-type":"simple-push""#
        let found = try await Self.explain(#"{"message":{"data":{\#(keys),"content":"\#(content)"}}}"#)
        #expect(found.vendor.name == "synerise")
        let raw = "/message/data/content/campaign"
        #expect(Self.origins("/data/campaign/id", in: found) == ["\(raw)/hash_id copied"])
        #expect(Self.origins("/data/campaign/variant", in: found) == ["\(raw)/variant_id parsed"])
    }

    @Test func theWinnerIsChosenAndOthersAreListed() async throws {
        let found = try await Self.explain(#"{"aps":{"alert":"Hi"},"ab":{"c":"NjVmMF9jbXA="}}"#)
        let braze = try #require(found.detectors.first)
        #expect(braze.name == "braze" && braze.verdict == .chosen)
        #expect(braze.detection?.evidence.isEmpty == false && !braze.looksFor.isEmpty)
        let others = found.detectors.dropFirst()
        #expect(others.contains { $0.name == "synerise" && $0.verdict == .no && $0.detection == nil })
        #expect(found.vendor.name == "braze" && !found.isVendorOfSource)
        let named = try await Self.explain(#"{"aps":{"alert":"Hi"}}"#, vendor: VendorID("granify"))
        #expect(named.isVendorOfSource)
        #expect(named.detectors.contains { $0.name == "granify" && $0.verdict == .chosen })
    }

    @Test func keysThatAreTokensAreHashed() async throws {
        let token = "t0ken-0123456789abcdef"
        let name = TokenHash(key: TestPipeline.key).name(of: Array(token.utf8))
        let found = try await Self.explain(
            #"{"message":{"token":"\#(token)","data":{"\#(token)":"x","a/\#(token)":"y"}}}"#)
        let pointers = found.provenance.links.map(\.raw) + found.provenance.unread
        #expect(!pointers.contains { $0.contains(token) })
        #expect(found.provenance.unread.contains("/message/data/\(name)"))
        #expect(found.provenance.unread.contains("/message/data/a~1\(name)"))
    }

    /// The path of a push to APNs has the token; the payload does not name it.
    @Test func keysThatAreTheTokenOfTheRequestAreHashed() async throws {
        let token = String(repeating: "0a", count: 32)
        let name = TokenHash(key: TestPipeline.key).name(of: Array(token.utf8))
        let payload = #"{"aps":{"alert":"Hi"},"devices":{"\#(token.uppercased())":1}}"#
        let event = String(decoding: try TestPipeline().event(payload).get().body, as: UTF8.self)
        let stored = Array(event.replacing(token.uppercased(), with: name).utf8)
        let found = try await Self.explain(payload, stored: stored)
        #expect(found.provenance.unread == ["/devices/\(name)"])
    }

    @Test func aStoredValueThatIsReadOtherwiseNowHasNoOrigin() async throws {
        let payload = #"{"aps":{"alert":{"title":"Hello","body":"World"}}}"#
        let event = try TestPipeline().event(payload).get().body
        let changed = Array(String(decoding: event, as: UTF8.self).replacing("Hello", with: "Older").utf8)
        let found = try await Self.explain(payload, stored: changed)
        #expect(found.event == changed)
        #expect(Self.origins("/data/content/title", in: found).isEmpty)
        #expect(Self.origins("/data/content/body", in: found) == ["/aps/alert/body copied"])
    }

    @Test func manyValuesAreExaminedInPart() async throws {
        let members = (0..<600).map { #""k\#($0)":"\#($0)""# }.joined(separator: ",")
        let found = try await Self.explain(#"{"aps":{"alert":"Hi"},\#(members)}"#)
        #expect(!found.provenance.isComplete)
        #expect(found.provenance.unread.count == ProvenanceSearch.mostLeaves - 1)
        #expect(Self.origins("/data/content/body", in: found) == ["/aps/alert copied"])
    }

    @Test func aLargePayloadIsExaminedInPart() async throws {
        let text = String(repeating: "a", count: 3 << 20)
        let members = (0..<50).map { #""k\#($0)":"\#($0)""# }.joined(separator: ",")
        let found = try await Self.explain(#"{"aps":{"alert":"Hi"},"text":"\#(text)",\#(members)}"#)
        #expect(!found.provenance.isComplete)
        #expect(found.provenance.unread.count < 20)
    }

    @Test func aSearchThatEndsEarlyIsNotComplete() async throws {
        let found = try await Self.explain(#"{"aps":{"alert":"Hi"},"x":1}"#, upTo: .zero)
        #expect(!found.provenance.isComplete && found.provenance.links.isEmpty)
        #expect(found.vendor == .unknown && !found.event.isEmpty)
    }

    @Test(arguments: ["{}", "[]", "nothing", #"{"aps":"#])
    func aPayloadThatTheGatewayRejectsIsRejected(_ payload: String) async throws {
        let isRejected: Bool
        do {
            _ = try await Self.explain(payload)
            isRejected = false
        } catch is Rejection { isRejected = true }
        #expect(isRejected == (payload != "{}"))
    }

    /// Hostile keys and texts give valid pointers and no crash.
    @Test func strangePayloadsHaveAnExplanation() async throws {
        let payloads = [
            #"{"aps":{"alert":"\u0000\u202e<img onerror=x>"},"a/b~c":{"":[[],{},null,1e308,-0.0,1e20]}}"#,
            #"{"aps":{"alert":"x","alert":"y"},"x":1,"x":2}"#,
            #"{"message":{"data":{"x":"{\"y\":\"[\\\"z\\\"]\"}"}}}"#,
        ]
        for payload in payloads {
            let found = try await Self.explain(payload)
            for link in found.provenance.links {
                #expect(JSONPointer(link.raw) != nil && JSONPointer(link.event) != nil)
            }
        }
    }

    /// Each value has a pointer, so a long key around many values would take gigabytes.
    @Test func aLongKeyAroundManyValuesEndsTheSearch() async throws {
        let key = String(repeating: "k", count: 100_000)
        let values = Array(repeating: #"{"v":1}"#, count: 20_000).joined(separator: ",")
        let found = try await Self.explain(#"{"aps":{"alert":"Hi"},"\#(key)":[\#(values)]}"#)
        #expect(!found.provenance.isComplete)
        #expect(found.provenance.links.isEmpty && found.provenance.unread.isEmpty)
    }

    @Test func aLongKeyAroundAFewValuesLeavesTheOthersExamined() async throws {
        let key = String(repeating: "k", count: 300_000)
        let found = try await Self.explain(#"{"aps":{"alert":"Hi"},"\#(key)":[1,2,3,4]}"#)
        #expect(!found.provenance.isComplete)
        #expect(Self.origins("/data/content/body", in: found) == ["/aps/alert copied"])
    }

    // MARK: All vendors

    /// For each payload of the tests: a copied value is the same on both sides, and most texts have an origin.
    @Test func copiesOfAllVendorsAreRight() async throws {
        let files = try VendorPayloads.all
        var examined = 0
        for (name, payload) in files {
            let found = try await Self.explain(payload)
            guard found.provenance.isComplete else { continue }
            examined += 1
            let raw = try #require(RawValues(Array(payload.utf8), limit: 10_000))
            let values = Dictionary(raw.leaves.map { ($0.pointer, $0.value) }) { $1 }
            let event = try #require(EventReading(found.event, with: JSONParser(limits: EventDocument.limits)))
            for link in found.provenance.links where link.how == .copied {
                let value = try #require(event.values[link.event], "\(name): \(link)")
                #expect(values[link.raw] == value, "\(name): \(link)")
            }
            let texts = event.values.keys.filter { $0.hasPrefix("/data/content/") && !$0.contains("localized") }
            for text in texts where Self.origins(text, in: found).isEmpty {
                Issue.record("\(name): \(text) has no origin")
            }
        }
        #expect(examined > files.count * 9 / 10 && examined > 500, "\(examined) of \(files.count)")
    }
}

/// The payloads of the vendors' fixtures.
private enum VendorPayloads {
    static var all: [(name: String, payload: String)] {
        get throws {
            let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let folder = tests.appending(path: "SignalboxVendorsTests/Fixtures")
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
            return try names.filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }.map {
                ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
            }
        }
    }
}
