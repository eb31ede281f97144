import HTTPTypes
import SignalboxNotification
import SignalboxStore
import Testing

@testable import SignalboxServer

@Suite struct BulkRequestTests {
    private static func read(_ text: String, _ change: BulkChange = .retry) -> Result<BulkRequest, Problem> {
        do throws(Problem) { return .success(try BulkRequest(Array(text.utf8), for: change)) } catch {
            return .failure(error)
        }
    }

    @Test func readsAPreviewAndARun() throws {
        let preview = try Self.read(#"{"filter":{"destination":"crm","status":503},"dryRun":true}"#).get()
        #expect(preview.step == .preview && preview.filter.state == .dead && preview.filter.status == 503...503)
        #expect(preview.conditions == ["destination": "crm", "status": "503", "state": "dead"])
        let run = try Self.read(#"{"filter":{"state":"waiting"},"confirm":"t","reason":"fixed","spread":600}"#).get()
        #expect(run.step == .run(confirm: "t") && run.reason == "fixed" && run.spread == 600)
        #expect(run.filter == DeliveryFilter(state: .waiting))
        #expect(try Self.read(#"{"filter":{},"confirm":"t","reason":" "}"#).get().reason == nil)
    }

    @Test(arguments: [
        (#"{"filter":{"destinaton":"crm"},"dryRun":true}"#, "/filter/destinaton", "did you mean destination?"),
        (#"{"filtr":{},"dryRun":true}"#, "/filtr", "did you mean filter?"),
        (#"{"filter":{},"filter":{},"dryRun":true}"#, "/filter", "twice"),
        (#"{"filter":{"state":1},"dryRun":true}"#, "/filter/state", "string"),
        (#"{"filter":{"vendor":""},"dryRun":true}"#, "/filter/vendor", "empty"),
        (#"{"filter":[],"dryRun":true}"#, "/filter", "object"),
        (#"{"dryRun":true}"#, "", "filter is missing"), (#"{"filter":{}}"#, "", "preview"),
        (#"{"filter":{},"dryRun":true,"confirm":"t"}"#, "", "preview"),
        (#"{"filter":{},"dryRun":"true"}"#, "/dryRun", "true or false"),
        (#"{"filter":{},"confirm":1}"#, "/confirm", "string"),
        (#"{"filter":{},"confirm":"t","spread":86401}"#, "/spread", "86400"),
        (#"{"filter":{},"confirm":"t","spread":-1}"#, "/spread", "whole"),
        (#"{"filter":{},"confirm":"t","spread":1.5}"#, "/spread", "whole"),
        ("[]", "", "object"), ("{", "", "not valid JSON"), ("x", "", "not valid JSON"),
    ])
    func rejectsAMistake(text: String, pointer: String, words: String) {
        guard case .failure(let problem) = Self.read(text) else {
            Issue.record("\(text) was accepted")
            return
        }
        #expect(problem.status == .badRequest && problem.code == "body-unexpected")
        #expect(problem.members.first?.value == pointer && problem.detail.contains(words), "\(problem)")
        #expect(problem.detail.hasSuffix(" No change was made."))
    }

    @Test func aPurgeHasNoSpread() {
        guard case .failure(let problem) = Self.read(#"{"filter":{},"confirm":"t","spread":1}"#, .purge) else {
            Issue.record("accepted")
            return
        }
        #expect(problem.members.first?.value == "/spread")
    }

    @Test func anInvalidConditionIsRejected() {
        guard case .failure(let problem) = Self.read(#"{"filter":{"state":"gone"},"dryRun":true}"#) else {
            Issue.record("accepted")
            return
        }
        #expect(problem.code == "query-malformed" && problem.detail.contains("waiting, delivered"))
        guard case .failure(let other) = Self.read(#"{"filter":{"error":"timeout"},"dryRun":true}"#) else {
            Issue.record("accepted")
            return
        }
        #expect(other.code == "query-malformed" && other.detail.contains("timeout-connect, timeout-reply"))
    }

    @Test(arguments: [("", true), ("{}", true), (" { } \n", true), ("[]", false), ("{\"a\":1}", false), ("x", false)])
    func knowsAnAbsentBody(text: String, isAbsent: Bool) {
        #expect(JSONBody.isAbsent(Array(text.utf8)) == isAbsent)
    }
}
