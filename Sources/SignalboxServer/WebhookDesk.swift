package import Foundation
package import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import Synchronization

/// Verifies, prints and counts received webhooks, and decides the status of each reply.
///
/// A class because all connections share the counts. Used by `signalbox listen` only. Stores the ids of all received
/// webhooks, for the count of distinct ones.
package final class WebhookDesk: Sendable {
    /// The output for each webhook: none, a summary, or the body. `none` still verifies and counts.
    package enum Form: Sendable { case none, lines, json }

    private struct Counts {
        /// All webhooks, repeats included.
        var received = 0
        /// Values of `webhook-id`.
        var distinct: Set<String> = []
        /// Webhooks with an invalid signature or a body that cannot be decompressed.
        var unverified = 0
    }

    private let counts = Mutex(Counts())
    /// Nil: signatures are not verified.
    private let keys: WebhookKeys?
    /// Of replies to verified webhooks, unless a forward decides the status.
    private let status: Int
    /// Applies to verified and unverified webhooks alike, except that ``Form/json`` omits the latter.
    private let form: Form
    /// Colours the summaries of ``Form/lines``. JSON is never coloured.
    private let color: Bool
    /// Called outside of the lock, so lines of concurrent webhooks may change places.
    private let print: @Sendable (String) -> Void
    /// Maximum size of a decompressed body.
    private static let bodyLimit = 64 * 1024 * 1024

    /// `keys`: nil accepts any signature. `status`: the status of replies to verified webhooks. `print` receives whole
    /// lines.
    package init(
        keys: WebhookKeys?, status: Int, form: Form, color: Bool, print: @escaping @Sendable (String) -> Void
    ) {
        self.keys = keys
        self.status = status
        self.form = form
        self.color = color
        self.print = print
    }

    /// The counts so far, as one line without its line end. A consistent snapshot of the three counts.
    package var summary: String {
        counts.withLock {
            "\($0.received) received, \(Counted.words($0.distinct.count, "distinct id")), "
                + "\($0.unverified) with a bad signature"
        }
    }

    /// Returns the status to reply with: 401 for a webhook that cannot be verified, otherwise that of `forward`, or the
    /// fixed one without it. Safe for concurrent use. `now`: compared with the timestamp of the signature. `forward`:
    /// passes a verified webhook on; returns a status and a remark for the printed line.
    package func accept(
        _ message: WebhookReceiver.Message, now: Date = Date(),
        forward: (@Sendable (WebhookReceiver.Message) async -> (status: Int, remark: String))? = nil
    ) async -> Int {
        let body = opened(message)
        var verdict = verify(message, body, now)
        counts.withLock { counts in
            counts.received += 1
            if let id = message.id { counts.distinct.insert(id) }
            if verdict.isBad { counts.unverified += 1 }
        }
        var answer = verdict.isBad ? 401 : status
        if let forward, !verdict.isBad {
            let result = await forward(message)
            answer = result.status
            verdict.text += "; \(result.remark)"
        }
        show(message, body, verdict, answer)
        return answer
    }

    /// Prints a webhook in the form of the desk.
    private func show(
        _ message: WebhookReceiver.Message, _ body: [UInt8]?, _ verdict: (isBad: Bool, text: String), _ answer: Int
    ) {
        switch form {
        case .none: break
        // An unverified body is not an event of the sender, and may not be JSON.
        case .json: if !verdict.isBad { print(Self.line(body ?? message.body) + "\n") }
        case .lines:
            let event = EventLine(color: color).text(body ?? message.body)
            print(event + "    \(verdict.text); answering \(answer)\n")
        }
    }

    /// The body as one line of JSON. Removes line ends, which JSON has between its tokens only. A body that is not
    /// JSON, such as the text of a template, becomes a string.
    static func line(_ body: [UInt8]) -> String {
        let text = String(decoding: body, as: UTF8.self)
        guard (try? JSONParser().parse(body)) != nil else { return JSONText.value { $0.string(text) } }
        return String(decoding: body.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }

    /// The decompressed body, which the signature covers; nil if its coding is unknown or the body damaged.
    private func opened(_ message: WebhookReceiver.Message) -> [UInt8]? {
        switch message.header("content-encoding") {
        case nil, "identity": message.body
        case "gzip": try? Decompression.gunzip(message.body, upTo: Self.bodyLimit)
        default: nil
        }
    }

    /// The text is the last part of the printed line. A body that cannot be decompressed is bad even without keys.
    private func verify(
        _ message: WebhookReceiver.Message, _ body: [UInt8]?, _ now: Date
    ) -> (isBad: Bool, text: String) {
        guard let body else { return (true, "REJECTED: the body is not gzip, or too large") }
        guard let keys else { return (false, "not verified: no secret given") }
        do throws(WebhookVerificationError) {
            try keys.verify(
                id: message.id, timestamp: message.timestamp, signatures: message.signature, body: body, now: now)
            return (false, "signature verified")
        } catch {
            return (true, "REJECTED: \(error)")
        }
    }
}
