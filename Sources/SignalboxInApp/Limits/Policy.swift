/// The section `inapp` of the config: rules across vendors, with its defaults.
package struct Policy: Sendable, Hashable {
    /// From the end of the last display on a device to the next one, unless a message has its own.
    package var interval: Span = 30_000
    /// Limits across messages: of a vendor, of the scope or shared by name.
    package var limits: [Limit] = []
    /// Added to the rank of a vendor's messages; lower is shown first.
    package var vendorOffsets: [Vendor: Int] = [:]
    /// Exemptions from limits and intervals.
    package var exemptions = Exemptions()
    /// Checked in this order; the first that applies names the check.
    package var pauses: [Pause] = []
    /// The first group that covers a message and contains the user holds it back.
    package var controlGroups: [ControlGroup] = []
    /// For how long displays are kept. Every window fits into it, so every limit is exact.
    package var history: Span = 35 * 86_400_000
    /// A client reports an outcome within this time, or loses the offer.
    package var lease: Span = 30_000
    /// A shown message ends if no request reports it or lists it as visible for this time.
    package var silence: Span = 30 * 60_000
    /// For how long ended offers are kept to recognise repeated reports.
    package var endedOffers: Span = 86_400_000
    /// For how long past triggers are evaluated again for late definitions (Airship: 30 s); 0 is off.
    package var replay: Span = 0
    /// Slot names that Granify was given; others get a warning. Empty: not declared.
    package var slotNames: Set<String> = []

    /// Whether the gateway registers the messages that payloads bring. No decision reads it.
    package var registersPayloads = false

    /// The defaults.
    package init() {}

    /// Messages that the limits of vendors and of the scope spare.
    package struct Exemptions: Sendable, Hashable {
        /// Every message of these vendors.
        package var vendors: Set<Vendor> = []
        /// These messages.
        package var messages: Set<MessageID> = []
        /// Whether their displays still count for the limits of the others.
        package var areCounted = false

        /// No exemptions.
        package init() {}
    }

    /// A time or a screen without messages. Slots are spared. Nil and empty mean any.
    package struct Pause: Sendable, Hashable {
        /// The name in the config.
        package var name: String
        /// The vendors that it applies to.
        package var vendors: Set<Vendor> = []
        /// The screens that it applies to.
        package var screens: Set<String> = []
        /// The first instant of the pause.
        package var from: Instant?
        /// The first instant after the pause.
        package var until: Instant?

        /// Pauses everything permanently, until its bounds are set.
        package init(_ name: String) { self.name = name }

        /// Whether the pause covers a message of this vendor now. A pause of screens needs a client that reports its
        /// screen.
        func applies(to vendor: Vendor, screen: String?, at now: Instant) -> Bool {
            (vendors.isEmpty || vendors.contains(vendor)) && (from.map { $0 <= now } ?? true)
                && (until.map { now < $0 } ?? true) && (screens.isEmpty || screen.map(screens.contains) ?? false)
        }
    }

    /// Throws for a limit that is not possible, longer than the history, or named by no limit.
    package func validate() throws(InputFault) {
        for (index, limit) in limits.enumerated() {
            let pointer = "/inapp/limits/\(index)"
            try limit.validate(at: pointer)
            if limit.owner == .message {
                throw InputFault(.contradictory, pointer + "/owner", "limits of a message belong to the message")
            }
            if let longest = limit.window.longest, longest > history {
                throw InputFault(.outOfRange, pointer + "/window", "longer than history")
            }
        }
        for (value, name) in [
            (interval, "interval"), (replay, "replay"), (lease - 1, "lease"), (silence - 1, "silence"),
            (history - 86_400_000, "history"),
        ] where value < 0 { throw InputFault(.outOfRange, "/inapp/" + name, "too short") }
        for (index, group) in controlGroups.enumerated() where !(0...10_000).contains(group.share) {
            throw InputFault(.outOfRange, "/inapp/controlGroups/\(index)/share", "0 to 10,000")
        }
    }

    /// Throws for limits and control groups that the policy does not have for this message, and windows beyond its
    /// history.
    package func validate(_ message: Message) throws(InputFault) {
        for (index, name) in message.namedLimits.enumerated()
        where !limits.contains(where: { $0.owner == .named(name) }) {
            let isKnown = limits.contains { $0.name == name }
            throw InputFault(
                .unknownLimit, "/namedLimits/\(index)",
                isKnown ? "the owner of limit \(name) is not `named`" : "the policy has no limit \(name)")
        }
        if let name = message.experiment {
            let groups = controlGroups.filter { $0.name == name }
            if groups.isEmpty {
                throw InputFault(.unknownGroup, "/experiment", "the policy has no control group \(name)")
            }
            // Its members would be shown the message.
            if !groups.contains(where: { $0.covers(message) }) {
                throw InputFault(
                    .unknownGroup, "/experiment", "control group \(name) holds back messages of another vendor only")
            }
        }
        for (index, limit) in message.limits.enumerated() {
            if let longest = limit.window.longest, longest > history {
                throw InputFault(.outOfRange, "/limits/\(index)/window", "longer than the policy's history")
            }
        }
    }

    /// Whether limits of vendors and of the scope spare a message.
    func isExempt(_ definition: Definition) -> Bool {
        definition.message.isExempt || exemptions.vendors.contains(definition.message.vendor)
            || exemptions.messages.contains(definition.message.id)
    }

    /// Whether displays of a message count in its own limits only. A slot does not interrupt, and competes with the
    /// other messages of its label only. Inline messages neither obey nor fill a limit of the policy.
    func isUncounted(_ definition: Definition) -> Bool {
        definition.isInline || (isExempt(definition) && !exemptions.areCounted)
    }

    /// Whether limits of the policy apply to a message.
    func isLimiting(_ definition: Definition) -> Bool {
        !limits.isEmpty && !definition.isInline && !isExempt(definition)
    }

    /// Whether a display of this message must respect a limit of the policy.
    func includes(_ definition: Definition, in limit: Limit) -> Bool {
        switch limit.owner {
        case .message: false
        case .vendor(let vendor): vendor == definition.message.vendor
        case .scope: true
        case .named(let name): definition.message.namedLimits.contains(name)
        }
    }

    /// The first control group that covers this message and contains this user.
    func controlGroup(of definition: Definition, for user: UserID) -> ControlGroup? {
        controlGroups.first { $0.covers(definition) && $0.contains(user) }
    }
}

/// Users who see no message of a group, to measure what the messages change. Membership is a function of group and
/// user, so it is stable and the same on every node.
package struct ControlGroup: Sendable, Hashable {
    /// The messages that a group holds back.
    package enum Coverage: Sendable, Hashable {
        /// Synerise's global control group.
        case everything
        case vendor(Vendor)
        /// Messages that name the group as their experiment.
        case experiment
    }

    /// Also the experiment that messages name.
    package var name: String
    /// Another salt draws other members.
    package var salt: String
    /// Users of the group among 10,000.
    package var share: Int
    /// The messages that the group holds back.
    package var coverage: Coverage

    /// `share` is of 10,000 users: 500 is five percent.
    package init(_ name: String, salt: String = "", share: Int, coverage: Coverage = .experiment) {
        (self.name, self.salt, self.share, self.coverage) = (name, salt, share, coverage)
    }

    /// Whether the group holds this message back from its members.
    func covers(_ definition: Definition) -> Bool { covers(definition.message) }

    fileprivate func covers(_ message: Message) -> Bool {
        switch coverage {
        case .everything: true
        case .vendor(let vendor): vendor == message.vendor
        case .experiment: message.experiment == name
        }
    }

    /// Whether this user is a member.
    package func contains(_ user: UserID) -> Bool {
        var digest = Digest()
        digest.add(name)
        digest.add(salt)
        digest.add(user)
        return digest.mixed % 10_000 < UInt64(share)
    }
}
