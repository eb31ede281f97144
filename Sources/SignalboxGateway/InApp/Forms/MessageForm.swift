package import SignalboxInApp
import SignalboxJSON

/// An in-app message in our own JSON form: the engine's message, and the parts that no decision reads. The JSON Schema
/// is `signalbox schema inapp`.
/// The parts that decisions read are in memory for every active message; `content` and `action` are read again for
/// an answer. The order of members in the JSON does not matter.
package struct MessageForm: Sendable, Hashable {
    /// The message with the defaults of its vendor.
    /// Everything that decisions read.
    package let message: Message
    /// For the client to show: one JSON value without white space. No decision reads it.
    package let content: [UInt8]?
    /// For the client to do after a tap: one JSON value without white space. No decision reads it.
    package let action: [UInt8]?
    /// The only user or device that may see it; nil for all devices.
    package let address: InAppRegistration.Address?

    /// A form of a message that was not read from JSON, such as one of a payload. `content` and `action` must be JSON
    /// and are not checked. The limits must be those of the message, not of a vendor or the scope. A missing end and
    /// render timeout become the vendor's default.
    package init(
        _ message: Message, content: [UInt8]? = nil, action: [UInt8]? = nil, address: InAppRegistration.Address? = nil
    ) {
        precondition(message.limits.allSatisfy { $0.owner == .message }, "A message owns its limits.")
        let defaults = MessageDefaults(message.vendor)
        var message = message
        message.schedule.end = message.schedule.end ?? defaults.end(message.registeredAt)
        message.renderTimeout = message.renderTimeout ?? defaults.renderTimeout
        (self.message, self.content, self.action, self.address) = (message, content, action, address)
    }

    /// Reads a form. `id`, `revision` and `registeredAt` are not part of it. Throws the first mistake; every bound of
    /// the engine's ``Definition`` is checked. Limits and control groups that only the policy knows are checked by
    /// ``Policy/validate(_:)-(Message)``.
    package static func read(
        _ bytes: [UInt8], id: SignalboxInApp.MessageID, revision: Int, registeredAt: Instant
    ) throws(FormFault) -> MessageForm {
        try FormDocument.read(bytes, upTo: FormBounds.message) { (root) throws(FormFault) in
            let object = try FormObject(root, at: "", FormKeys.message)
            var message = try Message.read(object, id: id, registeredAt: registeredAt)
            message.revision = revision
            let form = MessageForm(
                message, content: try part("content", of: object, upTo: FormBounds.content),
                action: try part("action", of: object, upTo: FormBounds.action), address: try address(of: object))
            _ = try form.definition()
            return form
        }
    }

    /// The validated message for the engine's index. Throws the first value that is beyond a bound of the engine or
    /// contradicts another.
    /// Compiles filters and patterns, so it takes longer than a copy; the index keeps its result.
    package func definition() throws(FormFault) -> Definition {
        do throws(InputFault) {
            return try Definition(message)
        } catch { throw FormFault(error) }
    }

    /// The last time of a display; nil for none.
    package var end: Instant? { message.schedule.end }

    /// A value of any type, without white space. Nil for an absent member. Throws for `null` and for a value of more
    /// than `limit` bytes.
    private static func part(
        _ key: StaticString, of object: FormObject, upTo limit: Int
    ) throws(FormFault) -> [UInt8]? {
        guard let value = object[key] else { return nil }
        guard !value.isNull else { throw .wrongType(object.pointer(key), "any value except null") }
        let bytes = JSONText(value).bytes
        guard bytes.count <= limit else {
            throw FormFault(
                FormFault.Code.tooLarge, object.pointer(key),
                "\(key) has \(bytes.count) bytes; at most \(limit) are allowed.")
        }
        return bytes
    }

    /// Nil for an absent member: the message is for all devices. Throws for an address of both a user and a device,
    /// and of neither.
    private static func address(of object: FormObject) throws(FormFault) -> InAppRegistration.Address? {
        guard let address = try object.object("address", FormKeys.address) else { return nil }
        switch (try address.userID("user"), try address.text("device")) {
        case (let user?, nil): return .user(user)
        case (nil, let device?): return .device(device)
        default: throw FormFault(.contradictory, address.pointer, "An address must have either a user or a device.")
        }
    }
}

extension FormObject {
    /// A known user; the prefix of anonymous users is reserved.
    /// Nil for an absent member.
    func userID(_ key: StaticString) throws(FormFault) -> UserID? {
        guard let user = try text(key) else { return nil }
        guard !AnonymousUser.contains(user) else {
            throw FormFault(
                .contradictory, pointer(key), "The prefix \"anonymous:\" is reserved; leave out an anonymous user.")
        }
        return user
    }
}

// MARK: The engine's message

extension Message {
    fileprivate static func read(
        _ form: FormObject, id: SignalboxInApp.MessageID, registeredAt: Instant
    ) throws(FormFault) -> Message {
        let vendor = try form.vendor()
        let defaults = MessageDefaults(vendor)
        let kind = try form.required("kind", form.choice("kind", Kind.allCases))
        let triggers = try form.triggers("triggers")
        var message = Message(
            id: id, vendor: vendor, kind: kind, triggers: try form.required("triggers", triggers ?? defaults.triggers),
            reEligibility: try ReEligibility.read(form) ?? defaults.reEligibility, registeredAt: registeredAt)
        message.campaign = try form.text("campaign")
        message.unless = try form.triggers("unless") ?? []
        message.rank = try form.integer("rank", in: 0...1000) ?? message.rank
        message.delay = try form.span("delay") ?? 0
        message.timeout = try form.span("timeout")
        message.interval = try form.span("interval")
        if let schedule = try form.object("schedule", FormKeys.schedule) {
            message.schedule = Schedule(start: try schedule.instant("start"), end: try schedule.instant("end"))
        }
        message.limits =
            try form.list("limits", upTo: Bounds.limitsPerMessage) { (value, pointer) throws(FormFault) in
                try Limit.read(value, at: pointer)
            } ?? defaults.limits
        message.namedLimits = try form.texts("namedLimits", upTo: Bounds.limitsPerMessage) ?? []
        try message.readConditions(form, defaults)
        return message
    }

    /// A list of groups, like a filter. ``Definition`` checks their number.
    private static func topics(of object: FormObject) throws(FormFault) -> [[String]]? {
        try object.list("topics", upTo: Bounds.filterGroups) { (group, pointer) throws(FormFault) in
            try FormObject.list(group, at: pointer, upTo: Bounds.conditionsPerGroup) {
                (topic, pointer) throws(FormFault) in try FormObject.text(topic, at: pointer)
            }
        }
    }

    /// Reads what a device or a policy must fulfil before the message is shown.
    private mutating func readConditions(_ form: FormObject, _ defaults: MessageDefaults) throws(FormFault) {
        if let object = try form.object("requires", FormKeys.requirements) {
            requirements.orientation = try object.choice("orientation", [ClientState.Orientation.portrait, .landscape])
            requirements.template = try object.text("template")
            requirements.assets = Set(try object.texts("assets", length: FormBounds.asset) ?? [])
            requirements.screens = Set(try object.texts("screens") ?? [])
            requirements.topics = try Self.topics(of: object) ?? []
            requirements.lacksImage = try object.flag("lacksImage") ?? false
        }
        isBlocking = try form.flag("blocking") ?? false
        isExempt = try form.flag("exempt") ?? false
        isTest = try form.flag("test") ?? false
        if let object = try form.object("pair", FormKeys.pair) {
            pair = Pair(
                key: try object.required("key", object.text("key")),
                role: try object.required("role", object.choice("role", Message.Pair.Role.allCases)),
                marker: try object.required("marker", object.text("marker")))
        }
        experiment = try form.text("experiment")
        isSmart = try form.flag("smart") ?? defaults.isSmart
        asksApp = try form.flag("asksApp") ?? false
        renderTimeout = try form.span("renderTimeout")
        if let renderTimeout, !(1000...600_000).contains(renderTimeout) {
            throw FormFault(.outOfRange, form.pointer("renderTimeout"), "Expected a duration from 1s to 10m.")
        }
    }
}

extension FormObject {
    /// A vendor's name is part of subjects of events, so it has no slash.
    /// Has 1 to 64 bytes and begins with a letter or a digit.
    fileprivate func vendor() throws(FormFault) -> Vendor {
        let vendor = try required("vendor", text("vendor", upTo: 64))
        let isFirst: (UInt8) -> Bool = { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) }
        let isName = vendor.utf8.allSatisfy { isFirst($0) || [0x2d, 0x2e, 0x5f].contains($0) }
        guard isName, let first = vendor.utf8.first, isFirst(first) else {
            throw FormFault(
                FormFault.Code.invalidValue, pointer("vendor"),
                "A vendor's name can have only lower-case letters, digits, \".\", \"_\" and \"-\", such as braze.")
        }
        return vendor
    }

    /// Nil for an absent member; see ``MessageDefaults/triggers``. At most ``Bounds/triggersPerMessage``.
    fileprivate func triggers(_ key: StaticString) throws(FormFault) -> [MessageTrigger]? {
        try list(key, upTo: Bounds.triggersPerMessage) { (value, pointer) throws(FormFault) in
            try MessageTrigger.read(value, at: pointer)
        }
    }
}

/// Whether a message may be shown again to a person who has seen it.
extension Message.ReEligibility {
    /// `never`, `always` or a duration.
    /// Nil for an absent member: the vendor's default applies. A duration counts from the last display to the same
    /// person.
    fileprivate static func read(_ form: FormObject) throws(FormFault) -> Message.ReEligibility? {
        guard let value = form["reEligibility"] else { return nil }
        if value.equals("never") { return .never }
        if value.equals("always") { return .always }
        do throws(FormFault) {
            return .after(try FormObject.span(value, at: form.pointer("reEligibility")))
        } catch {
            throw FormFault(error.code, error.pointer, "Expected never, always or a duration such as \"24h\".")
        }
    }
}
