import Foundation
import HTTPTypes
import SignalboxNotification
import SignalboxStore
import Testing

@testable import SignalboxServer

@Suite struct DeliveryFilterTests {
    private static func read(_ values: [String: String]) -> Result<DeliveryFilter, Problem> {
        do throws(Problem) { return .success(try DeliveryFilter { values[$0.name] }) } catch { return .failure(error) }
    }

    @Test func readsEveryCondition() throws {
        let filter = try Self.read([
            "state": "dead", "destination": "crm", "event": "e", "vendor": "mce", "status": "503",
            "error": "timeout-reply", "since": "2026-11-20T00:00:00Z", "until": "2026-11-21T00:00:00Z",
        ]).get()
        #expect(filter.state == .dead && filter.destination == DestinationName("crm") && filter.event == "e")
        #expect(filter.vendor == "mce" && filter.status == 503...503 && filter.error == "timeout-reply")
        let (since, until) = (try #require(filter.acceptedSince), try #require(filter.acceptedBefore))
        #expect(until.timeIntervalSince(since) == 86_400)
        #expect(try Self.read([:]).get() == DeliveryFilter())
    }

    @Test(arguments: [("5xx", 500...599), ("4XX", 400...499), ("100", 100...100), ("599", 599...599)])
    func readsAStatusOrAClass(text: String, range: ClosedRange<Int>) throws {
        #expect(try Self.read(["status": text]).get().status == range)
    }

    @Test(arguments: [
        ("status", "600"), ("status", "0xx"), ("status", "6xx"), ("status", "xx"), ("status", "+50"), ("status", ""),
        ("status", "5xxx"), ("status", "٥٠٣"), ("state", "Dead"), ("error", "timeout"),
        ("error", "nope"), ("error", ""), ("error", "Reset"), ("since", "yesterday"), ("until", "1"),
    ])
    func rejectsAnInvalidValue(name: String, text: String) {
        guard case .failure(let problem) = Self.read([name: text]) else {
            Issue.record("\(name)=\(text) was accepted")
            return
        }
        #expect(problem.status == .badRequest && problem.code == "query-malformed")
    }

    /// Codes of requests that got no answer, and of attempts that ended with their process.
    @Test func readsEveryErrorAndListsThem() throws {
        #expect(DeliveryFilter.errors.contains("timeout-connect") && DeliveryFilter.errors.contains("interrupted"))
        for code in DeliveryFilter.errors { #expect(try Self.read(["error": code]).get().error == code) }
        guard case .failure(let problem) = Self.read(["error": "nope"]) else {
            Issue.record("accepted")
            return
        }
        #expect(problem.detail.contains("nope") && problem.detail.contains("timeout-connect, timeout-reply"))
    }
}
