import SignalboxInApp
import SignalboxStore

/// The parsed messages for one user or device that decisions read last. The store loads their bodies with the rows of
/// each decision; a body is parsed once for all of them. Copies share one cache.
struct AddressedMessages: Sendable {
    /// By the size of the bodies. Nil for a message that cannot be read.
    private let definitions = RevisionCache<Definition?>()

    /// The size of all kept messages.
    var bytes: Int { definitions.bytes }

    /// Nil for a body that an older version accepted and this one does not.
    func definition(of stored: StoredInAppMessage) -> Definition? {
        let (id, revision, registeredAt) = (stored.registration.id, stored.revision, stored.registeredAt)
        if let known = definitions.value(of: id, revision: revision, registeredAt: registeredAt) { return known }
        let definition = try? InAppMessages.definition(of: InAppMessages.form(of: stored))
        definitions.keep(
            definition, of: id, revision: revision, registeredAt: registeredAt, bytes: stored.registration.body.count)
        return definition
    }
}
