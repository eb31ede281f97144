import SignalboxInApp
import SignalboxJSON

// The section `inapp`: rules of in-app messages across vendors. SignalboxInApp has their values and their meaning.

extension Policy {
    /// Names of limits, pauses and control groups are unique within their arrays.
    static let options = Section(Policy()) {
        Option(
            "interval", \.interval, .span(from: "0ms", to: "7d", example: "30s"),
            "From the end of a display on a device to the next one. A message's own interval replaces it.")
        Option(
            "limits", \.limits,
            InAppLimit.type.list(of: "limits", 0...50, orElse: "this has more than 50 limits; remove some"),
            "Limits on the displays of several messages. Each limit that concerns a message must have room.")
        Option(
            "vendorOffsets", \.vendorOffsets, OptionType<Int>.whole(-1000...1000).dictionary(by: vendors) { $0 },
            "Added to the rank of a vendor's messages. The lowest rank is shown first.")
        Option(
            "exemptions", \.exemptions, .section(Exemptions.options),
            "Messages that the limits of this section do not apply to.")
        Option("pauses", \.pauses, .pauses, "Times and screens without messages. Slots are not paused.")
        Option(
            "controlGroups", \.controlGroups, .controlGroups,
            "Users who see none of a group's messages, to measure the effect of the messages.")
        Option(
            "history", \.history, .span(from: "1d", to: "400d", example: "35d"),
            "How long displays are stored one by one. No window of a limit may be longer.")
        Option(
            "lease", \.lease, .span(from: "1s", to: "1h", example: "30s"),
            "How long an offered message waits for the client's report.")
        Option(
            "silence", \.silence, .span(from: "1m", to: "7d", example: "30m"),
            "A shown message ends if no request reports it or lists it as visible for this time.")
        Option(
            "endedOffers", \.endedOffers, .span(from: "1m", to: "30d", example: "1d"),
            "How long ended offers are stored to recognise repeated reports.")
        Option(
            "replay", \.replay, .span(from: "0ms", to: "1h", example: "30s"),
            "How long a message that is registered late may still match a past trigger; `0ms` is off.")
        Option(
            "slotNames", \.slotNames, .labels(of: "slot names"),
            "Names of slots for inline messages; others lead to a warning. Empty: all are known.")
        Option(
            "payloads", \.registersPayloads, .flag,
            "Registers the in-app messages that payloads bring, for all devices. Leave it off if payloads contain personal texts."
        )
    } check: { policy, value, reader in
        for (key, noun) in [("limits", "limits"), ("pauses", "pauses"), ("controlGroups", "control groups")] {
            reader.checkNames(value.member(key), noun)
        }
        policy.checkLimits(value, &reader)
    }

    /// Any name in lower case: vendors of in-app messages need no detector.
    private static let vendors = KeyRule(
        entries: "the name of each vendor", plural: "vendors", most: ConfigBounds.entries, placeholder: "VENDOR",
        schema: OptionType<Vendor>.vendor.info.schema
    ) { OptionType<Vendor>.isVendor($0) ? nil : OptionType<Vendor>.problem(ofVendor: $0) }

    /// Records each limit that is not possible with this history. Does not run if an entry could not be read, because
    /// positions would differ.
    private func checkLimits(_ value: JSONValue, _ reader: inout ConfigReader) {
        let entries = value["limits"].map { Array($0.elements.prefix(limits.count + 1)) } ?? []
        guard entries.count == limits.count, !reader.mistaken.contains("history") else { return }
        var policy = Policy()
        policy.history = history
        for (entry, limit) in zip(entries, limits) {
            policy.limits = [limit]
            do throws(InputFault) {
                try policy.validate()
            } catch {
                let key = String(error.pointer.split(separator: "/").last ?? "")
                let remedy =
                    key == "count"
                    ? "count fewer, or all of the \"lifetime\"" : "shorten it, or make \"history\" longer"
                reader.note(entry.member(key) ?? entry, "this is not possible (\(error.detail)); \(remedy)")
            }
        }
    }
}

extension ConfigReader {
    /// Records every name that an earlier entry of the same array has.
    fileprivate mutating func checkNames(_ value: JSONValue?, _ noun: String) {
        var names: Set<String> = []
        for entry in value.map({ Array($0.elements.prefix(ConfigBounds.entries)) }) ?? [] {
            guard let member = entry["name"], let name = member.string, !names.insert(name).inserted else { continue }
            note(member, "two \(noun) are named \"\(name)\"; rename one")
        }
    }
}

extension Policy.Exemptions {
    /// A message is exempt by its vendor or by its id.
    fileprivate static let options = Section(Policy.Exemptions()) {
        Option("vendors", \.vendors, .vendors, "Vendors whose messages are exempt.")
        Option("messages", \.messages, .labels(of: "messages"), "Ids of exempt messages.")
        Option("counted", \.areCounted, .flag, "Whether exempt displays count for the limits of other messages.")
    }
}

// MARK: Limits

/// A limit as the config writes it.
private struct InAppLimit: Sendable {
    var name = ""
    /// `scope`, `vendor` or `named`, with ``vendor`` for the second one.
    var owner = "scope"
    /// Nil unless ``owner`` is `vendor`.
    var vendor: Vendor?
    /// At most 1000 unless the window is the whole lifetime.
    var count = 1
    /// Decides whether displays on several devices of a user add up.
    var per = Limit.Subject.user
    /// Required, so the default never applies.
    var window = Limit.Window.lifetime
    /// Only for days and weeks; nil for the zone of the device.
    var zone: Limit.Zone?

    /// Combines the options once all of them are known.
    var limit: Limit {
        let owner: Limit.Owner =
            switch (owner, vendor) {
            case ("vendor", let vendor?): .vendor(vendor)
            case ("named", _): .named(name)
            default: .scope
            }
        let window: Limit.Window =
            switch window {
            case .day: .day(zone ?? .user)
            case .week: .week(zone ?? .user)
            default: window
            }
        return Limit(count, window, per: per, owner: owner, name: name)
    }

    static let type = OptionType.section(options).map(\.limit)

    /// The error for any of the three required options.
    private static let missing =
        "a limit needs a \"name\", a \"count\" and a \"window\", such as \"24h\", \"day\" or \"session\""

    private static let options = Section(InAppLimit(), rules: InAppVendor.rules(of: "owner")) {
        Option("name", \.name, .label, required: missing, "Identifies the limit in explanations and in messages.")
        Option(
            "owner", \.owner,
            .word(among: ["scope", "vendor", "named"], expected: "this must be \"scope\", \"vendor\" or \"named\""),
            "The displays to count: all (`scope`), those of a `vendor`, or those of messages that name the limit (`named`). Default: `scope`."
        )
        Option("vendor", \.vendor, .vendor, "The vendor, with `\"owner\": \"vendor\"`.")
        Option(
            "count", \.count, .whole(1...1_000_000_000), required: missing,
            "Most displays in the window; at most 1000 unless the window is `lifetime`.")
        Option(
            "per", \.per,
            OptionType<String>.word(among: ["user", "device"], expected: "this must be \"user\" or \"device\"")
                .map(write: \.rawValue) { $0 == "device" ? .device : .user },
            "The owner of the displays to add up: a user on all devices, or a device. Default: `user`.")
        Option(
            "window", \.window, windowType, required: missing,
            "The displays that count: of the `session`, of the calendar `day` or `week` (from Monday), of a duration before now, or of the whole `lifetime`."
        )
        Option(
            "zone", \.zone, zoneType,
            "The time zone of `day` and `week`: an IANA name, or `user` for that of the device (UTC if it names none). Default: `user`."
        )
    } check: { limit, value, reader in
        InAppVendor.check(limit.owner, "owner", value, &reader)
        if let zone = value["zone"], value["window"] != nil {
            switch limit.window {
            case .day, .week: break
            default: reader.note(zone, "only the windows \"day\" and \"week\" have a time zone; remove it")
            }
        }
    }

    /// Reads the words itself, because a duration shares the string with them.
    private static let windowType = OptionType<Limit.Window>(
        TypeInfo(
            "`session`, `day`, `week`, `lifetime`, or duration", limits: "1s to 400d",
            [
                "anyOf": [
                    ["enum": ["session", "day", "week", "lifetime"]],
                    OptionType<Duration>.duration(from: "1s", to: "400d", example: "24h").info.schema,
                ]
            ])
    ) { value, reader in
        guard let text = reader.text(value) else { return nil }
        let span = Duration(text: text)
        if let span, !(.seconds(1)...(.seconds(400 * 86_400))).contains(span) {
            return reader.refuse(value, "a window in time must be 1s to 400d; write \"lifetime\" for no end")
        }
        do throws(InputFault) {
            return try Limit.Window(kind: span == nil ? text : nil, span: span?.milliseconds, at: "/window")
        } catch {
            return reader.refuse(value, "there is no window \"\(text)\"; \(error.detail)")
        }
    }

    /// Follows ``RouteWindow/zone(named:)``; `user` is the zone that the device names.
    private static let zoneType = OptionType<Limit.Zone>.string("time zone, or `user`") {
        "there is no time zone \"\($0)\"; write an IANA name such as \"Europe/Berlin\", \"UTC\" or \"user\""
    } _: { name in
        name == "user" ? .user : RouteWindow.zone(named: name).map { .fixed($0) }
    }
}
