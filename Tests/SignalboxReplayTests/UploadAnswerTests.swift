import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import Testing

@Suite struct UploadAnswerTests {
    private func answer(_ status: Int, _ body: String, to count: Int = 1, retryAfter: RetryAfter? = nil) -> UploadAnswer
    {
        UploadAnswer(
            OutboundReply(status: status, excerpt: Array(body.utf8), retryAfter: retryAfter), to: count,
            now: Date(timeIntervalSince1970: 100))
    }

    private let receipt =
        #"{"id":"1","vendor":"mce","kind":"alert","routes":["a","b"],"destinations":[],"warnings":["mce.x"]}"#

    @Test func readsOneReceiptAndMany() {
        let taken = Receipt.taken(vendor: "mce", routes: ["a", "b"], warnings: ["mce.x"], isRepeat: false)
        #expect(answer(202, receipt) == .settled([taken]))
        #expect(
            answer(202, #"{"accepted":2,"rejected":0,"items":[\#(receipt),\#(receipt)]}"#, to: 2)
                == .settled([taken, taken]))
        #expect(
            answer(202, #"{"id":"1","duplicate":true,"vendor":"mce"}"#)
                == .settled([.taken(vendor: "mce", routes: [], warnings: [], isRepeat: true)]))
    }

    @Test func namesTheStatusOfAnotherServer() {
        for body in ["", "<html>", "{}"] {
            let sentence = "The server answered 404, but not as a Signalbox gateway does; check the address."
            #expect(answer(404, body) == .refused(sentence), "\(body)")
        }
    }

    /// A payload that many routes take has a long receipt.
    @Test func readsLongReceipts() {
        let routes = (0..<2_000).map { "route-with-a-long-name-\($0)" }
        let list = routes.map { "\"\($0)\"" }.joined(separator: ",")
        let receipt = #"{"id":"1","vendor":"mce","kind":"alert","routes":[\#(list)],"destinations":[]}"#
        let items = repeatElement(receipt, count: UploadBatches.most).joined(separator: ",")
        let body = #"{"accepted":100,"rejected":0,"items":[\#(items)]}"#
        #expect(body.utf8.count < UploadAnswer.longestReply)
        let taken = Receipt.taken(vendor: "mce", routes: routes, warnings: [], isRepeat: false)
        #expect(answer(202, body, to: 100) == .settled(Array(repeating: taken, count: 100)))
    }

    @Test func namesAReplyThatIsTooLong() {
        let body = String(repeating: " ", count: UploadAnswer.longestReply + 1)
        let expected =
            "The gateway accepted 100 payloads, but its reply is longer than 32 MiB: too many routes or "
            + "destinations receive them."
        #expect(answer(207, body, to: 100) == .refused(expected))
    }

    @Test func rejectionsOfABatchKeepTheirPosition() {
        let problem = #"{"line":2,"offset":22,"error":{"code":"payload-too-large","detail":"Too large."}}"#
        guard
            case .settled(let items) = answer(
                207, #"{"accepted":1,"rejected":1,"items":[\#(problem),\#(receipt)]}"#, to: 2)
        else {
            Issue.record("a batch with rejects is settled")
            return
        }
        #expect(items.first == .rejected(code: "payload-too-large", message: "Too large."))
        #expect(items.count == 2)
    }

    @Test func settlesTheRejectionOfASinglePayload() {
        #expect(
            answer(400, #"{"code":"payload-too-deep","detail":"Too deep."}"#)
                == .settled([.rejected(code: "payload-too-deep", message: "Too deep.")]))
        #expect(
            answer(413, #"{"code":"body-too-large","detail":"Too large."}"#)
                == .refused("The gateway answered 413: Too large."))
        #expect(
            answer(404, #"{"code":"not-found","detail":"Did you mean \"app\"?"}"#)
                == .refused(#"The gateway answered 404: Did you mean "app"?"#))
    }

    @Test func refusesRepliesOfOtherServers() {
        for (status, body) in [(202, ""), (202, "{}"), (202, #"{"items":[]}"#), (207, "<html>"), (200, receipt)] {
            guard case .refused = answer(status, body) else {
                Issue.record("\(status) \(body)")
                return
            }
        }
        guard case .refused = answer(202, receipt, to: 2) else {
            Issue.record("two payloads have two receipts")
            return
        }
    }

    @Test func repeatsTemporaryStatuses() {
        for status in [408, 425, 429, 500, 502, 503, 504] {
            #expect(answer(status, "") == .later(after: nil, because: "the gateway answered \(status)"))
        }
        let date = RetryAfter.date(Date(timeIntervalSince1970: 130))
        #expect(answer(503, "", retryAfter: date) == .later(after: 30, because: "the gateway answered 503"))
    }
}
