import SignalboxJSON

// What the catalogue looks for and what it saw, for people.

extension CatalogueEntry {
    var profile: VendorProfile {
        let words = markers.map { "\($0.words) (\($0.strength))" }.joined(separator: "; ")
        return VendorProfile(
            vendor: vendor, name: name, looksFor: words.isEmpty ? "nothing: it leaves no trace in a payload" : words,
            source: source, confidence: confidence)
    }
}

extension CatalogueMarker {
    var words: String { conditions.map(\.words).joined(separator: " with ") }
}

extension CatalogueCondition {
    var words: String {
        switch (subject, test) {
        case (.keyPrefix(let prefix, let place), _):
            "a key that begins with `\(String(decoding: prefix, as: UTF8.self))`" + place.words
        case (.path(let path), .present): "`\(path.text)`"
        case (.path(let path), .absent): "no `\(path.text)`"
        case (.path(let path), _): "`\(path.text)` that is \(test.words)"
        }
    }

    /// Why this does not hold, in words.
    fileprivate func objection(in payload: borrowing PlatformPayload) -> String {
        guard case .path(let path) = subject else { return "there is no such key" }
        if let value = payload.value(at: path) {
            return "\(payload.pointer(to: value)) is \(value.glimpse), \(test.words) is needed"
        }
        return path.objection(in: payload)
    }
}

extension CataloguePath {
    /// Where this path ends too early, in words.
    fileprivate func objection(in payload: borrowing PlatformPayload) -> String {
        var reached: (value: JSONValue, rest: ArraySlice<Token>)?
        for length in 1..<max(tokens.count, 2) where length < tokens.count {
            if let value = payload.value(at: beginning(length)) { reached = (value, tokens[length...]) }
        }
        guard let (value, rest) = reached, let next = rest.first?.words else { return "there is no \(text)" }
        let place = payload.pointer(to: value)
        if payload.parser.container(value)?.isObject == true { return "\(place) has no \(next)" }
        return "\(place) is \(value.glimpse), an object with \(next) is needed"
    }
}

extension CataloguePath.Token {
    fileprivate var words: String {
        switch self {
        case .key(let key): String(decoding: key, as: UTF8.self)
        case .each: "a member"
        case .counted(let before, let after):
            String(decoding: before, as: UTF8.self) + "{i}" + String(decoding: after, as: UTF8.self)
        }
    }
}

extension CataloguePath.Place {
    fileprivate var words: String {
        switch self {
        case .anywhere: ""
        case .apns: " beside `aps`"
        case .fcm: " in FCM's data"
        case .payload: " in the payload as it came"
        }
    }
}

extension JSONValue {
    /// What a value is, for a sentence; long texts are cut.
    package var glimpse: String {
        switch kind {
        case .object: isEmptyContainer ? "an empty object" : "an object"
        case .array: isEmptyContainer ? "an empty list" : "a list"
        case .string: utf8.map { $0.count <= 40 ? "\"\(string ?? "")\"" : "a string" } ?? "a string"
        case .integer, .unsigned, .double: "the number \(spelled ?? "")"
        case .bool: spelled ?? ""
        case .null: "null"
        }
    }
}

extension Catalogue {
    /// Nobody needs to read about more than these.
    private static let mostLines = 40

    package func explain(_ payload: borrowing PlatformPayload) -> [String] {
        var asked: Set<Int> = []
        var nearly: [Int] = []
        forEachMarker(askedBy: payload) { position in
            asked.insert(markers[position].entry)
            nearly.append(position)
        }
        let keys = nearly.compactMap { markers[$0].marker.conditions.first?.key(in: payload) }
        var lines = [summary(asked: asked.count, keys: Set(keys).sorted())]
        // Several markers of one vendor can fail for the same reason.
        var written: Set<String> = []
        for position in nearly.sorted() {
            let (entry, marker) = markers[position]
            guard let condition = marker.failing(in: payload) else { continue }
            let line = "  \(entries[entry].vendor): no; \(condition.objection(in: payload))"
            if written.insert(line).inserted { lines.append(line) }
        }
        return Array(lines.prefix(Self.mostLines))
    }

    private func summary(asked: Int, keys: [String]) -> String {
        guard asked > 0 else {
            return "\(name): none of its \(entries.count) vendors uses a key of this payload as a mark"
        }
        return "\(name): \(asked) of its \(entries.count) vendors asked, by \(keys.joined(separator: ", "))"
    }
}

extension CatalogueMarker {
    fileprivate func failing(in payload: borrowing PlatformPayload) -> CatalogueCondition? {
        for condition in conditions where !condition.holds(in: payload) { return condition }
        return nil
    }
}

extension CatalogueCondition {
    /// The first key of it, as the payload has it.
    fileprivate func key(in payload: borrowing PlatformPayload) -> String? {
        switch subject {
        case .keyPrefix(let prefix, _): return String(decoding: prefix, as: UTF8.self) + "…"
        case .path(let path): return path.firstKey.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
