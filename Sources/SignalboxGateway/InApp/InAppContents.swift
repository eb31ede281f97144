import SignalboxInApp

/// The contents of messages that were offered last; the others are read from the store. Copies share one cache.
/// The bound is of content and action; a form has some hundred bytes besides.
struct InAppContents: Sendable {
    private let forms = RevisionCache<MessageForm>()

    /// The size of all kept contents.
    var bytes: Int { forms.bytes }

    /// Nil if this revision is not kept. Callable from any thread, event loops included.
    func form(of message: Message) -> MessageForm? {
        forms.value(of: message.id, revision: message.revision, registeredAt: message.registeredAt)
    }

    /// Keeps a form instead of others, including another revision. Callable from any thread.
    func keep(_ form: MessageForm) {
        let message = form.message
        forms.keep(
            form, of: message.id, revision: message.revision, registeredAt: message.registeredAt, bytes: form.bytes)
    }
}

/// The memory that a kept form takes, without its parts that the index holds as well.
extension MessageForm {
    /// The size of the parts that no decision reads.
    var bytes: Int { (content?.count ?? 0) + (action?.count ?? 0) }
}
