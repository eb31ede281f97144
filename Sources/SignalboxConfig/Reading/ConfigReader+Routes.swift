import SignalboxJSON
import SignalboxNotification

extension ConfigReader {
    private static let routeKeys = [
        "name", "match", "to", "stop", "ignore", "include", "media", "mediaWait", "enabled", "sample", "window",
        "redact", "transform",
    ]

    /// `lists`: of each file, in the order in which routes are asked.
    mutating func routes(_ lists: [JSONValue?], destinations: KnownDestinations) -> [RouteOptions] {
        var routes: [RouteOptions] = []
        var names: [String: JSONValue] = [:]
        for (value, location) in routeValues(lists) {
            guard isObject(value, keys: Self.routeKeys) else { continue }
            var route = RouteOptions(location: location)
            if let name = required("name", of: value).flatMap({ line($0) }), let member = value["name"] {
                route.name = name
                if let other = names.updateValue(member, forKey: name) {
                    note(
                        member, "there are two routes named \"\(name)\"; rename one",
                        also: [Related(value: other, message: "the other one is here")])
                }
            }
            if let match = required("match", of: value) {
                checkRepeats(in: match, RouteOptions.repeatedField)
                route.match = JSONText(match)
            }
            route.destinations = required("to", of: value).map { destinationNames($0, known: destinations) } ?? []
            route.stop = value["stop"].map { flag($0) } ?? false
            route.ignoring = value["ignore"].map { scheduleParts($0) } ?? []
            route.including = value["include"].map { eventParts($0) } ?? []
            route.media = media(of: value)
            readOptions(of: value, into: &route)
            routes.append(route)
        }
        return routes
    }

    private mutating func routeValues(_ lists: [JSONValue?]) -> [(JSONValue, ConfigLocation)] {
        var values: [(JSONValue, ConfigLocation)] = []
        for (file, value) in lists.enumerated() {
            guard let value else { continue }
            let entries = list(value, upTo: max(ConfigBounds.routes - values.count, 0))
            values += entries.enumerated().map { ($1, ConfigLocation(file: file, pointer: "/routes/\($0)")) }
        }
        return values
    }

    private mutating func media(of route: JSONValue) -> RouteMedia {
        let wait = route["mediaWait"].flatMap { duration($0, in: .zero ... .seconds(24 * 3600), example: "30s") }
        guard let value = route["media"], value.equals("stored") else {
            if let unused = route["mediaWait"] {
                note(unused, "only what is stored is waited for; add \"media\": \"stored\", or remove this")
            }
            guard let value = route["media"], !value.equals("link") else { return .link }
            if !value.equals("none") {
                note(value, "a route has media as \"stored\", \"link\" or \"none\"")
            }
            return .none
        }
        return .stored(wait: wait ?? RouteMedia.defaultWait)
    }

    private mutating func scheduleParts(_ value: JSONValue) -> ScheduleParts {
        let known: [String: ScheduleParts] = ["notBefore": .notBefore, "notAfter": .notAfter]
        var parts: ScheduleParts = []
        for entry in list(value) {
            guard let part = known[entry.string ?? ""] else {
                note(entry, "of an event's schedule \"notBefore\" and \"notAfter\" can be ignored")
                continue
            }
            parts.insert(part)
        }
        return parts
    }

    private mutating func eventParts(_ value: JSONValue) -> EventParts {
        var parts: EventParts = []
        for entry in list(value) {
            guard entry.equals("apns") else {
                note(entry, "an event can include \"apns\", the APNs payload as it should be shown")
                continue
            }
            parts.insert(.apns)
        }
        return parts
    }

    mutating func destinationNames(_ value: JSONValue, known: KnownDestinations) -> [DestinationName] {
        let entries = list(value)
        if value.isArray, value.isEmptyContainer { note(value, "this names no destination; name at least one") }
        var names: [DestinationName] = []
        for entry in entries {
            guard let text = text(entry) else { continue }
            if !known.set.contains(text) {
                note(entry, "there is no destination \"\(text)\"" + known.advice(for: text))
            }
            names.append(DestinationName(text))
        }
        return names
    }

    private mutating func required(_ key: StaticString, of value: JSONValue) -> JSONValue? {
        if let member = value[key] { return member }
        note(value, "\"\(key)\" is missing; a route needs a \"name\", a \"match\" and a \"to\"")
        return nil
    }
}

/// The declared destinations: a list in the config's order, and a set for lookups.
struct KnownDestinations {
    let names: [String]
    let set: Set<String>

    init(_ names: [String]) {
        self.names = names
        set = Set(names)
    }

    /// Advice for a name that is not declared.
    func advice(for name: String) -> String {
        names.isEmpty ? "; add one under \"destinations\"" : ConfigReader.suggestion(for: name, among: names)
    }
}
