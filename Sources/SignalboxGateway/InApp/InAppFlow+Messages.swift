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
        /// Whether this registration made it: no message had its id.
        package var isNew = false
    }

    /// Stores a message in our own form; durable when this returns. `id`: the id in the path, decoded. Throws for a
    /// malformed message, and for one that the policy or a bound does not permit. An equal message keeps its revision.
    /// Decisions that begin after this returns consider the message. `action`: recorded with the message.
    package func register(
        _ body: [UInt8], as id: MessageID, by action: OperatorAction? = nil
    ) async throws(InAppFailure) -> Shown {
        try Self.check(id)
        let registration = try Self.form { () throws(FormFault) in try canonical(body, as: id) }
        // A registration of the same id that is in progress may have stored it meanwhile: then it has a later
        // revision, or both were equal.
        let isKnown = try await fromStore { () throws(StoreError) in try await store.message(id) != nil }
        if !isKnown {
            try Self.form { () throws(FormFault) in
                try FormFault.check(messageID: id, at: "", "The id in the path")
            }
        }
        var message = shown(
            try await fromStore { () throws(StoreError) in try await store.register(registration, as: action) })
        message.isNew = !isKnown && message.stored.revision == 1
        return message
    }

    /// The canonical form of a message that the policy permits.
    private func canonical(_ body: [UInt8], as id: MessageID) throws(FormFault) -> InAppRegistration {
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
    /// Offers that clients have already received may still be reported.
    /// `action`: recorded with the end of the message.
    package func withdraw(_ id: MessageID, by action: OperatorAction? = nil) async throws(InAppFailure) -> Shown {
        try Self.check(id)
        guard
            let stored = try await fromStore({ () throws(StoreError) in
                try await store.withdraw(message: id, as: action)
            })
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
    /// Ids are part of URLs, events and logs.
    private static func check(_ id: MessageID) throws(InAppFailure) {
        guard (1...Bounds.nameLength).contains(id.utf8.count), id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .malformed(
                FormFault(
                    .outOfRange, "",
                    "The id in the path must have 1 to \(Bounds.nameLength) bytes of UTF-8 and no control characters."))
        }
    }

    /// Adds whether decisions consider the message.
    private func shown(_ stored: StoredInAppMessage) -> Shown {
        guard stored.withdrawnAt == nil else { return Shown(stored: stored, isActive: false, fault: nil) }
        let fault = shared.messages.fault(of: stored)
        return Shown(stored: stored, isActive: fault == nil, fault: fault)
    }

    /// The forms of offered messages, from the store if they are not in memory. A message that is no longer stored
    /// has none.
    func forms(
        of offers: [Offer], _ addressed: [MessageID: StoredInAppMessage]
    ) async throws(InAppFailure) -> [MessageID: MessageForm] {
        var forms: [MessageID: MessageForm] = [:]
        for id in Set(offers.map(\.message)) {
            let known = knownForm(of: id, addressed)
            forms[id] = if let known { known } else { try await storedForm(of: id) }
        }
        return forms
    }

    /// The form of an offered message, if it is in memory. `addressed`: the messages of the decision's own rows.
    /// Reads no file, so it may be called on an event loop.
    func knownForm(of id: MessageID, _ addressed: [MessageID: StoredInAppMessage]) -> MessageForm? {
        if let addressed = addressed[id] { return try? InAppMessages.form(of: addressed) }
        return shared.messages.active(id).flatMap { shared.contents.form(of: $0) }
    }

    /// Keeps the form for later answers.
    private func storedForm(of id: MessageID) async throws(InAppFailure) -> MessageForm? {
        let stored = try await fromStore { () throws(StoreError) in try await store.message(id) }
        guard let form = stored.flatMap({ try? InAppMessages.form(of: $0) }) else { return nil }
        shared.contents.keep(form)
        return form
    }

    /// Runs a call of the store and converts its error.
    func fromStore<R>(_ read: () async throws(StoreError) -> R) async throws(InAppFailure) -> R {
        do throws(StoreError) { return try await read() } catch { throw .store(error) }
    }
}
