import SignalboxInApp
import Synchronization

/// The contents of messages that were offered last. Bounded, so that many large messages do not fill the memory; the
/// others are read from the store. A class because all requests share it.
package final class InAppContents: Sendable {
    /// Bytes of all contents together.
    private static let limit = 16 * 1024 * 1024

    private struct State {
        var forms: [MessageID: MessageForm] = [:]
        var bytes = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The size of all kept contents.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Nil if this revision is not kept.
    func form(of id: MessageID, revision: Int) -> MessageForm? {
        state.withLock { $0.forms[id].flatMap { $0.message.revision == revision ? $0 : nil } }
    }

    /// Keeps a form instead of other ones. An older revision does not replace a newer one.
    func keep(_ form: MessageForm) {
        let id = form.message.id
        state.withLock { state in
            if let known = state.forms[id] {
                guard known.message.revision < form.message.revision else { return }
                state.bytes -= known.bytes
                state.forms[id] = nil
            }
            // Any others: messages that are offered often come back soon.
            while state.bytes + form.bytes > Self.limit, let (other, old) = state.forms.first {
                state.forms[other] = nil
                state.bytes -= old.bytes
            }
            state.forms[id] = form
            state.bytes += form.bytes
        }
    }
}

extension MessageForm {
    /// Of the parts that no decision reads.
    var bytes: Int { (content?.count ?? 0) + (action?.count ?? 0) }
}
