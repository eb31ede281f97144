package import SignalboxInApp

// In-app rows as every store keeps them. Every read throws ``DamagedValue`` for a column of another type, and for a
// word that is not one of its enumeration. `user`: the name of the column with the id of a user.

extension Offer {
    /// The columns of a row of `inapp_offers`, in the order in which ``init(_:from:)`` reads them. `place` is
    /// ``Offer/order``, and `lists` is NULL if ``Offer/lists`` is nil.
    package static func columns(user: String) -> [String] {
        [
            "id", "device", user, "message", "revision", "vendor", "kind", "state", "triggered_at", "due", "lapse",
            "flags", "session", "place", "until", "lease_until", "unanswered", "shown_at", "ended_at", "reason",
            "clicks", "slot", "product", "sku", "page", "lists",
        ]
    }

    /// Reads ``columns(user:)`` from `first` on.
    package init(_ row: some RecordRow, from first: Int = 0) throws {
        self.init(
            id: try row.text(first), device: try row.text(first + 1), user: try row.text(first + 2),
            message: try row.text(first + 3), revision: try row.count(first + 4), vendor: try row.text(first + 5),
            kind: try row.word(first + 6, as: Message.Kind.self), state: try row.word(first + 7, as: State.self),
            triggeredAt: try row.number(first + 8), due: try row.number(first + 9),
            lapse: try row.optionalNumber(first + 10), flags: Flags(rawValue: try row.count(first + 11)),
            namedLimits: [], session: try row.count(first + 12))
        order = try row.count(first + 13)
        until = try row.optionalNumber(first + 14)
        leaseUntil = try row.optionalNumber(first + 15)
        unanswered = try row.count(first + 16)
        shownAt = try row.optionalNumber(first + 17)
        endedAt = try row.optionalNumber(first + 18)
        reason = try row.optionalText(first + 19)
        clicks = try row.count(first + 20)
        let (product, sku) = (try row.optionalText(first + 22), try row.optionalText(first + 23))
        slot = try row.optionalText(first + 21).map { SlotLabel($0, productID: product, sku: sku) }
        page = try row.optionalText(first + 24)
        _ = try row.withBytes(first + 25) { try readLists($0) }
    }
}

extension DeviceState {
    /// The columns of a row of `inapp_devices` that a decision reads, in the order in which ``init(id:_:from:)`` reads
    /// them. Without the id and the ledger.
    package static func columns(user: String) -> [String] {
        [
            user, "last_now", "last_seen", "session", "last_end", "last_walkthrough", "last_order", "last_decision",
            "state",
        ]
    }

    /// Reads ``columns(user:)`` from `first` on.
    package init(id: DeviceID, _ row: some RecordRow, from first: Int) throws {
        self.init(id: id)
        user = try row.optionalText(first)
        lastNow = try row.number(first + 1)
        lastSeen = try row.number(first + 2)
        session = try row.count(first + 3)
        lastEnd = try row.optionalNumber(first + 4)
        lastWalkthrough = try row.optionalText(first + 5)
        lastOrder = try row.count(first + 6)
        lastDecision = try row.number(first + 7)
        guard try row.withBytes(first + 8, { try DeviceFields.read($0, into: &self) }) != nil else {
            throw FieldContent.damage
        }
    }
}

extension Tally {
    /// Reads the columns `committed` and `reserved` from `first` on.
    package init(_ row: some RecordRow, from first: Int) throws {
        self.init(committed: try row.count(first), reserved: try row.count(first + 1))
    }
}

extension StoredInAppMessage {
    /// The columns of a row of `inapp_messages`, in the order in which ``init(_:from:)`` reads them. The body is the
    /// message's JSON form as it was registered.
    package static func columns(user: String, device: String) -> String {
        "id, revision, registered_at, withdrawn_at, ends_at, \(user), \(device), body"
    }

    /// Reads ``columns(user:device:)`` from `first` on. A row with both addresses counts as one of the user; no
    /// gateway writes one.
    package init(_ row: some RecordRow, from first: Int = 0) throws {
        let user = try row.optionalText(first + 5).map(InAppRegistration.Address.user)
        let device = try row.optionalText(first + 6).map(InAppRegistration.Address.device)
        self.init(
            InAppRegistration(
                id: try row.text(first), body: try row.bytes(first + 7), address: user ?? device,
                end: try row.optionalNumber(first + 4)),
            revision: try row.count(first + 1), registeredAt: try row.number(first + 2),
            withdrawnAt: try row.optionalNumber(first + 3))
    }
}
