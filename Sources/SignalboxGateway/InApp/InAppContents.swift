import SignalboxInApp
import Synchronization

/// The contents of messages that were offered last. Bounded, so that many large messages do not fill the memory; the
/// others are read from the store. A class because all requests share it.
/// The bound is of content and action; a form has some hundred bytes besides.
package final class InAppContents: Sendable {
    /// Bytes of all contents together.
    private static let limit = 16 * 1024 * 1024

    /// The sum of the bytes is that of the forms.
    private struct State {
        var forms: [MessageID: MessageForm] = [:]
        var bytes = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The size of all kept contents.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Nil if this revision is not kept. The revisions of an id begin anew after upkeep has removed the message, so
    /// the time of the registration is compared too.
    /// Callable from any thread, event loops included.
    func form(of message: Message) -> MessageForm? {
        state.withLock { $0.forms[message.id].flatMap { $0.message.isRevision(of: message) ? $0 : nil } }
    }

    /// Keeps a form instead of other ones, also instead of another revision.
    /// Callable from any thread; a form larger than the bound replaces all others.
    func keep(_ form: MessageForm) {
        let id = form.message.id
        state.withLock { state in
            if let known = state.forms[id] {
                guard !known.message.isRevision(of: form.message) else { return }
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

extension Message {
    /// Whether both are the same revision of one registered message.
    fileprivate func isRevision(of other: Message) -> Bool {
        revision == other.revision && registeredAt == other.registeredAt
    }
}

/// The memory that a kept form takes, without its parts that the index holds as well.
extension MessageForm {
    /// The size of the parts that no decision reads.
    var bytes: Int { (content?.count ?? 0) + (action?.count ?? 0) }
}
