import SignalboxInApp
import SignalboxJSON
import SignalboxNotification

// Pauses and control groups of the section `inapp`, and the types that its options share.

extension OptionType<[Policy.Pause]> {
    /// At most 100. Rejects a pause that ends before it begins.
    static var pauses: OptionType {
        let missing = "a pause needs a \"name\""
        let options = Section(Policy.Pause("")) {
            Option("name", \.name, .label, required: missing, "Identifies the pause in explanations.")
            Option("vendors", \.vendors, .vendors, "The vendors to pause. Empty: all.")
            Option("screens", \.screens, .labels(of: "screens"), "The screens to keep free. Empty: all.")
            Option("from", \.from, .inAppInstant, "The first instant. Default: no beginning.")
            Option("until", \.until, .inAppInstant, "The end, which is not part of the pause. Default: no end.")
        } check: { pause, value, reader in
            if let from = pause.from, let until = pause.until, until <= from, let member = value["until"] {
                reader.note(member, "this is not after \"from\", so the pause never applies")
            }
        }
        return OptionType<Policy.Pause>.section(options)
            .list(of: "pauses", 0...100, orElse: "this has more than 100 pauses; remove some")
    }
}

extension OptionType<[ControlGroup]> {
    /// At most 50, with different names.
    static var controlGroups: OptionType {
        OptionType<InAppGroup>.section(InAppGroup.options).map(\.group)
            .list(of: "control groups", 0...50, orElse: "this has more than 50 control groups; remove some")
    }
}

/// A control group as the config writes it.
private struct InAppGroup: Sendable {
    /// Part of the draw of members, together with ``salt`` and the user's id.
    var name = ""
    /// Changing it draws other members. Empty for none.
    var salt = ""
    /// Users of the group among 10,000.
    var share = 0
    /// A word of the option; ``group`` turns it into a value.
    var coverage = "experiment"
    var vendor: Vendor?

    /// A group of `vendor` without a vendor, which is an error of its own, counts as `experiment`.
    var group: ControlGroup {
        let coverage: ControlGroup.Coverage =
            switch (coverage, vendor) {
            case ("vendor", let vendor?): .vendor(vendor)
            case ("everything", _): .everything
            default: .experiment
            }
        return ControlGroup(name, salt: salt, share: share, coverage: coverage)
    }

    /// The error for either of the required options.
    private static let missing = "a control group needs a \"name\" and a \"share\", such as \"10%\""

    /// Shares have steps of 0.01%, so that they are whole numbers.
    static let options = Section(InAppGroup(), rules: InAppVendor.rules(of: "coverage")) {
        Option("name", \.name, .label, required: missing, "Identifies the group in messages (`experiment`).")
        Option("salt", \.salt, .label, "Another salt draws other members. Default: none.")
        Option(
            "share", \.share, OptionType<Double>.share.map { Int(($0 * 10_000).rounded()) }, required: missing,
            "The share of users who are members, in steps of 0.01%. The name and the salt of the group and the id of the user decide."
        )
        Option(
            "coverage", \.coverage,
            .word(
                among: ["experiment", "vendor", "everything"],
                expected: "this must be \"experiment\", \"vendor\" or \"everything\""),
            "The messages to hold back: those that name the group as their `experiment`, those of a `vendor`, or all (`everything`). Default: `experiment`."
        )
        Option("vendor", \.vendor, .vendor, "The vendor, with `\"coverage\": \"vendor\"`.")
    } check: { group, value, reader in
        InAppVendor.check(group.coverage, "coverage", value, &reader)
    }
}

/// The member `vendor` next to a word that decides whether it is needed.
enum InAppVendor {
    /// The same as the check, for the schema. `key`: the option with the word.
    static func rules(of key: String) -> JSONNode {
        [
            "if": ["required": .strings([key]), "properties": [key: ["const": "vendor"]]],
            "then": ["required": ["vendor"]],
            "else": ["properties": ["vendor": false]],
        ]
    }

    /// `key`: the option with the word. Records an error for a missing vendor and for one without effect.
    static func check(_ word: String, _ key: String, _ value: JSONValue, _ reader: inout ConfigReader) {
        if word == "vendor", reader.lacks("vendor", in: value) {
            reader.note(value.member(key) ?? value, "this needs a \"vendor\" next to it, such as \"braze\"")
        }
        if word != "vendor", !reader.mistaken.contains(key), let member = value["vendor"] {
            reader.note(member, "a vendor is used with \"\(key)\": \"vendor\" only; add that, or remove this")
        }
    }
}

// MARK: Types

extension OptionType<Span> {
    /// A duration in milliseconds.
    static func span(from low: String, to high: String, example: String) -> OptionType {
        OptionType<Duration>.duration(from: low, to: high, example: example)
            .map(write: { .milliseconds($0) }) { $0.milliseconds }
    }

    /// An RFC 3339 time in milliseconds since 1970.
    static var inAppInstant: OptionType { OptionType<Timestamp>.instant.map { $0.milliseconds } }
}

extension OptionType<String> {
    /// A single line within the bounds of names of in-app messages.
    static var label: OptionType {
        OptionType(line.info, write: { .string($0) }) { value, reader in
            guard let text = reader.line(value) else { return nil }
            guard text.utf8.count > Bounds.nameLength else { return text }
            return reader.refuse(value, "this has more than \(Bounds.nameLength) bytes; shorten it")
        }
    }

    /// The name of a vendor, known or not.
    static var vendor: OptionType {
        string("vendor", pattern: "^[a-z0-9._-]{1,64}$", expected: problem(ofVendor:)) { isVendor($0) ? $0 : nil }
    }

    /// A name by ``NameRule`` without capital letters.
    static func isVendor(_ text: String) -> Bool { NameRule.allows(text) && text == text.lowercased() }

    /// A clause with the remedy. It quotes the text, which is a name.
    static func problem(ofVendor text: String) -> String {
        "\"\(text)\" is not a vendor; write its name as events do, in lower case, such as \"braze\""
    }
}

extension OptionType<Set<String>> {
    /// `plural`: the noun for errors. An empty array is an empty set.
    static func labels(of plural: String) -> OptionType { distinct(plural, .label) }

    static var vendors: OptionType { distinct("vendors", .vendor) }

    /// An equal entry is an error, although a set would hide it.
    private static func distinct(_ plural: String, _ type: OptionType<String>) -> OptionType {
        type.set(of: plural) { "\"\($0)\" is listed twice; remove one" }
            .map(write: { $0.isEmpty ? [] : nil }) { Set($0) }
    }
}
