import Foundation
package import SignalboxJSON
package import SignalboxNotification

/// What a route says beside where events go: whether and when it takes them, and what it makes of them.
extension ConfigReader {
    mutating func readOptions(of value: JSONValue, into route: inout RouteOptions) {
        if let enabled = value["enabled"] { route.isEnabled = flag(enabled) }
        route.sample = value["sample"].flatMap { sample($0) }
        route.window = value["window"].flatMap { window($0) }
        route.redactions = value["redact"].map { redactions($0, at: route.location.appending("redact")) } ?? []
        route.transform = value["transform"].flatMap { transform($0, at: route.location.appending("transform")) }
        if value["redact"] != nil || value["transform"] != nil { checkPayloads(of: value) }
    }

    /// A payload as it came has neither been redacted nor transformed.
    private mutating func checkPayloads(of route: JSONValue) {
        guard let to = route["to"], to.isArray else { return }
        let words =
            route["redact"] != nil
            ? "gets the payload as it came (\"raw\"), in which nothing can be redacted"
            : "gets the payload as it came (\"raw\"), of which nothing can be made"
        for entry in to.elements {
            guard let name = entry.string, rawDestinations.contains(DestinationName(name)) else { continue }
            note(entry, "\"\(name)\" \(words); give the destination another format, or leave it out here")
        }
    }

    // MARK: Sample

    private mutating func sample(_ value: JSONValue) -> Double? {
        var share = value.double
        if let text = value.string {
            let isPercentage =
                text.hasSuffix("%") && text.utf8.dropLast().allSatisfy { "0123456789.".utf8.contains($0) }
            share = isPercentage ? Double(text.dropLast()).map { $0 / 100 } : nil
        }
        guard let share, (0...1).contains(share) else {
            note(value, "this must be a number from 0 to 1, or a percentage such as \"10%\"")
            return nil
        }
        return share
    }

    // MARK: Window

    private mutating func window(_ value: JSONValue) -> RouteWindow? {
        guard isObject(value, keys: ["from", "until", "days", "hours", "timeZone"]) else { return nil }
        if value.isEmptyContainer {
            note(value, "this says no time; write \"from\", \"until\", \"days\" or \"hours\", or leave it out")
        }
        var window = RouteWindow()
        window.from = value["from"].flatMap { instant($0) }
        window.until = value["until"].flatMap { instant($0) }
        if let from = window.from, let until = window.until, until <= from, let member = value["until"] {
            note(member, "this is not after \"from\", so no event is ever in the window")
        }
        window.days = value["days"].map { days($0) }
        window.hours = value["hours"].map { hours($0) } ?? []
        if let member = value["timeZone"] {
            window.zone = zone(member) ?? window.zone
            if value["days"] == nil, value["hours"] == nil {
                note(member, "a time zone means something for \"days\" and \"hours\" only; remove it")
            }
        }
        return window
    }

    package mutating func instant(_ value: JSONValue) -> Timestamp? {
        guard let instant = value.utf8.flatMap({ Timestamp(iso8601: $0) }) else {
            note(value, "this must be an instant such as \"2026-11-27T08:00:00+01:00\" (RFC 3339)")
            return nil
        }
        return instant
    }

    private mutating func days(_ value: JSONValue) -> Set<RouteWindow.Weekday> {
        let known = RouteWindow.Weekday.allCases.map(\.rawValue)
        var days: Set<RouteWindow.Weekday> = []
        let entries = list(value)
        if value.isArray, entries.isEmpty { note(value, "this names no day; leave it out for every day") }
        for entry in entries {
            guard let text = text(entry) else { continue }
            guard let day = RouteWindow.Weekday(rawValue: text) else {
                note(entry, "there is no day \"\(text)\"; write one of \(known.joined(separator: ", "))")
                continue
            }
            if !days.insert(day).inserted { note(entry, "\"\(text)\" stands here twice; remove one") }
        }
        return days
    }

    /// One part of the day, or several.
    private mutating func hours(_ value: JSONValue) -> [RouteWindow.Hours] {
        let entries = value.isArray ? Array(value.elements.prefix(11)) : [value]
        if !(1...10).contains(entries.count) { note(value, "this must be one part of the day, or an array of 1 to 10") }
        return entries.compactMap { entry in
            let hours = entry.string.flatMap { RouteWindow.Hours($0) }
            if hours == nil {
                note(entry, "this must be a part of the day such as \"08:00-17:30\", or \"22:00-06:00\" past midnight")
            }
            return hours
        }
    }

    private mutating func zone(_ value: JSONValue) -> TimeZone? {
        guard let text = text(value) else { return nil }
        guard text == "UTC" || text.contains("/"), let zone = TimeZone(identifier: text) else {
            note(value, "there is no time zone \"\(text)\"; write an IANA name such as \"Europe/Berlin\", or \"UTC\"")
            return nil
        }
        return zone
    }

    // MARK: Redaction

    private static let mostRedactions = 100

    /// An array of what to drop, or an object with an action for each pointer.
    private mutating func redactions(_ value: JSONValue, at location: ConfigLocation) -> [RouteOptions.Redaction] {
        guard value.isObject || value.isArray else {
            note(
                value, "this must be an array of JSON Pointers to drop, or an object such as {\"/data/tag\": \"mask\"}")
            return []
        }
        var redactions: [RouteOptions.Redaction] = []
        let count =
            value.members.reduce(0) { count, _ in count + 1 } + value.elements.reduce(0) { count, _ in count + 1 }
        if !(1...Self.mostRedactions).contains(count) {
            note(value, "this must name 1 to \(Self.mostRedactions) JSON Pointers")
            return []
        }
        for (position, entry) in value.elements.enumerated() {
            if let text = text(entry) { add(.drop, text, at: location.appending("\(position)"), to: &redactions) }
        }
        for (key, member) in value.members {
            let text = String(decoding: key, as: UTF8.self)
            guard let action = redactAction(member) else { continue }
            add(action, text, at: location.appending(text, isKey: true), to: &redactions)
        }
        return redactions
    }

    private mutating func redactAction(_ value: JSONValue) -> RedactionAction? {
        let known = RedactionAction.allCases.map(\.rawValue)
        guard let word = text(value) else { return nil }
        if let action = RedactionAction(rawValue: word) { return action }
        note(value, "there is no way \"\(word)\" to redact" + Self.suggestion(for: word, among: known))
        return nil
    }

    private mutating func add(
        _ action: RedactionAction, _ text: String, at location: ConfigLocation,
        to redactions: inout [RouteOptions.Redaction]
    ) {
        guard let pointer = Self.boundedPointer(text), pointer.tokens.count > 1, pointer.tokens[0] == "data" else {
            diagnostics.error(
                at: location,
                "this must be a JSON Pointer into the data, such as \"/data/custom/email\"; the envelope stays")
            return
        }
        if redactions.contains(where: { $0.pointer.overlaps(pointer) }) {
            diagnostics.error(
                at: location, "another pointer here leads to the same place, into it or around it; keep one of them")
            return
        }
        redactions.append(.init(pointer: pointer, action: action, location: location))
    }

    // MARK: Transformation

    private mutating func transform(_ value: JSONValue, at location: ConfigLocation) -> RouteOptions.Transform? {
        guard isObject(value, keys: ["template", "map"]) else { return nil }
        switch (value["template"], value["map"]) {
        case (let template?, nil):
            let location = location.appending("template")
            return text(template).map { .template(TemplateSource(body: $0, location: location)) }
        case (nil, let map?):
            var left = Self.mostFields
            let fields = self.fields(map, depth: 1, left: &left)
            if left < 0 {
                note(map, "a map has at most \(Self.mostFields) names; make it shorter, or write a template")
            }
            return .map(fields)
        default:
            note(value, "the data are made either by a \"template\" or by a \"map\"; write one of them")
            return nil
        }
    }

    private static let mostFields = 200
    private static let deepestMap = 16

    private mutating func fields(_ value: JSONValue, depth: Int, left: inout Int) -> [DataField] {
        guard value.isObject, !value.isEmptyContainer else {
            note(
                value,
                "this must be an object with a JSON Pointer for each name, such as {\"user\": \"/data/custom/id\"}")
            return []
        }
        var seen: Set<String> = []
        var fields: [DataField] = []
        for (key, member) in value.members {
            let name = String(decoding: key, as: UTF8.self)
            if !seen.insert(name).inserted { note(keyOf: member, Self.repeated(name)) }
            left -= 1
            guard left >= 0 else { return fields }
            if member.isObject {
                guard depth < Self.deepestMap else {
                    note(member, "this is nested more than \(Self.deepestMap) levels deep")
                    continue
                }
                let inner = self.fields(member, depth: depth + 1, left: &left)
                fields.append(.init(name: name, source: .object(inner)))
            } else if let pointer = pointer(member) {
                fields.append(.init(name: name, source: .pointer(pointer)))
            }
        }
        return fields
    }
}

extension JSONPointer {
    /// Whether both lead to one place or one leads into the other. `*` stands for every element of an array.
    fileprivate func overlaps(_ other: JSONPointer) -> Bool {
        func isNumber(_ token: String) -> Bool { token.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        for (left, right) in zip(tokens, other.tokens) where left != right {
            return left == "*" && isNumber(right) || right == "*" && isNumber(left)
        }
        return true
    }
}
