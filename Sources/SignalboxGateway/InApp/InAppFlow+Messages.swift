import SignalboxEgress
package import SignalboxInApp
package import SignalboxStore

// Messages of operators, and the contents of offered ones.
extension InAppFlow {
    /// A stored message with its state in this process.
    package struct Shown: Sendable {
        package let stored: StoredInAppMessage
        /// Whether decisions consider it. Its schedule may still keep it from being shown.
        package let isActive: Bool
        /// Why it is not active although it is not withdrawn.
        package let fault: FormFault?
    }

    /// Stores a message in our own form; durable when this returns. `id`: of the path, decoded. Throws a mistake of
    /// the message, also if the policy or a bound does not permit it. An equal message keeps its revision.
    package func register(_ body: [UInt8], as id: MessageID) async throws(InAppFailure) -> Shown {
        try Self.check(id)
        let registration = try Self.read { () throws(FormFault) in try canonical(body, as: id) }
        return shown(try await fromStore { () throws(StoreError) in try await store.register(registration) })
    }

    /// The canonical form of a message that the policy permits.
    private func canonical(
        _ body: [UInt8], as id: MessageID
    ) throws(FormFault) -> InAppRegistration {
        let form = try MessageForm.read(body, id: id, revision: 1, registeredAt: now)
        let canonical = form.write()
        let definition = try InAppMessages.definition(of: form)
        if form.address == nil {
            try shared.messages.check(definition, bytes: canonical.count - form.bytes)
        } else {
            try shared.messages.checkAddressed(definition)
        }
        return InAppRegistration(id: id, body: canonical, address: form.address, end: form.end)
    }

    /// Ends a message: no new offers. Repeating it changes nothing.
    package func withdraw(_ id: MessageID) async throws(InAppFailure) -> Shown {
        try Self.check(id)
        guard let stored = try await fromStore({ () throws(StoreError) in try await store.withdraw(message: id) })
        else {
            throw .unknownMessage(id)
        }
        return shown(stored)
    }

    /// One message, withdrawn or not.
    package func message(_ id: MessageID) async throws(InAppFailure) -> Shown {
        try Self.check(id)
        guard let stored = try await fromStore({ () throws(StoreError) in try await store.message(id) }) else {
            throw .unknownMessage(id)
        }
        return shown(stored)
    }

    /// A page of messages in byte order of their ids.
    package func messages(
        after id: MessageID?, upTo count: Int, includingWithdrawn: Bool
    ) async throws(InAppFailure) -> [Shown] {
        let page = try await fromStore { () throws(StoreError) in
            try await store.messages(after: id, upTo: count, includingWithdrawn: includingWithdrawn)
        }
        return page.map(shown)
    }

    /// An id is not empty, has at most ``Bounds/nameLength`` bytes and no control characters.
    private static func check(_ id: MessageID) throws(InAppFailure) {
        guard (1...Bounds.nameLength).contains(id.utf8.count), id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .malformed(
                FormFault(
                    .outOfRange, "",
                    "The id in the path has 1 to \(Bounds.nameLength) bytes of UTF-8 and no control characters."))
        }
    }

    private func shown(_ stored: StoredInAppMessage) -> Shown {
        guard stored.withdrawnAt == nil else { return Shown(stored: stored, isActive: false, fault: nil) }
        let fault = shared.messages.fault(of: stored)
        return Shown(stored: stored, isActive: fault == nil, fault: fault)
    }

    /// The forms of offered messages. A message that is no longer stored has none.
    func forms(
        of offers: [Offer], _ addressed: [MessageID: StoredInAppMessage]
    ) async throws(InAppFailure) -> [MessageID: MessageForm] {
        var forms: [MessageID: MessageForm] = [:]
        for id in Set(offers.map(\.message)) { forms[id] = try await form(of: id, addressed[id]) }
        return forms
    }

    private func form(of id: MessageID, _ addressed: StoredInAppMessage?) async throws(InAppFailure) -> MessageForm? {
        if let addressed { return try? InAppMessages.form(of: addressed) }
        let revision = shared.messages.revision(of: id)
        if let revision, let known = shared.contents.form(of: id, revision: revision) { return known }
        let stored = try await fromStore { () throws(StoreError) in try await store.message(id) }
        guard let form = stored.flatMap({ try? InAppMessages.form(of: $0) }) else { return nil }
        shared.contents.keep(form)
        return form
    }

    func fromStore<R>(_ read: () async throws(StoreError) -> R) async throws(InAppFailure) -> R {
        do throws(StoreError) { return try await read() } catch { throw .store(error) }
    }
}
