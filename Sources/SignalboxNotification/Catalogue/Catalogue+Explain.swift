import SignalboxJSON

// Descriptions of the catalogue's evidence, and of the reasons why no entry matches, for people.

/// A summary of one entry.
extension CatalogueEntry {
    /// The entry as `signalbox vendors` shows it, with all its markers. An entry without a marker is listed too, so
    /// that readers see that the vendor cannot be recognised.
    var profile: VendorProfile {
        let evidence = markers.map { "\($0.summary) (\($0.strength))" }.joined(separator: "; ")
        return VendorProfile(
            vendor: vendor, name: name,
            looksFor: evidence.isEmpty ? "nothing: it leaves no trace in a payload" : evidence, source: source,
            confidence: confidence)
    }
}

/// Texts for `signalbox vendors`, where each marker is one phrase.
extension CatalogueMarker {
    /// A noun phrase. The conditions in the order of the entry.
    var summary: String { conditions.map(\.summary).joined(separator: " with ") }
}

/// Texts for `signalbox explain`, which names the condition that does not hold.
extension CatalogueCondition {
    /// A noun phrase.
    var summary: String {
        switch (subject, test) {
        case (.keyPrefix(let prefix, let scope), _):
            "a key that begins with `\(String(decoding: prefix, as: UTF8.self))`" + scope.summary
        case (.path(let path), .present): "`\(path.text)`"
        case (.path(let path), .absent): "no `\(path.text)`"
        case (.path(let path), _): "`\(path.text)` that is \(test.summary)"
        }
    }

    /// The reason why the condition does not hold. Names the pointer of the value, and the value or its kind; see
    /// ``JSONValue/shortDescription``.
    fileprivate func objection(in payload: borrowing PlatformPayload) -> String {
        guard let path else { return "there is no such key" }
        if let value = payload.value(at: path) {
            return "\(payload.pointer(to: value)) is \(value.shortDescription); expected \(test.summary)"
        }
        return path.objection(in: payload)
    }

    /// The key by which the index finds the condition. An ellipsis marks a key prefix. Nil for a path that begins
    /// with `*` or `{i}`.
    fileprivate var keyText: String? {
        switch subject {
        case .keyPrefix(let prefix, _): String(decoding: prefix, as: UTF8.self) + "…"
        case .path(let path): path.firstKey.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// Completes "`/path` that is …" and "expected …".
extension CatalogueCondition.Test {
    /// The expected value as a noun phrase.
    var summary: String {
        switch self {
        case .present: "any value"
        case .absent: "nothing"
        case .unset: "nothing or an empty text"
        case .blank: "nothing or white space"
        case .filled: "a value that is not empty"
        case .scalar: "a text or a number"
        case .integer: "a whole number"
        case .text: "a text"
        case .object: "an object"
        case .filledObject: "an object that is not empty"
        case .list: "a list"
        case .isTrue: "true"
        case .equals(let text): "\"\(text)\""
        case .equalsIgnoringCase(let text): "\"\(text)\" in any case"
        case .among(let words): "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
        case .moreThan(let limit): "more than \(limit)"
        case .notAmong(let words): "none of \(words.map { "\"\($0)\"" }.joined(separator: ", "))"
        case .host(let host): "an address on the host \(host) or below it"
        case .startsWith(let text): "a text that begins with \"\(text)\""
        case .form(let form, nil): form.summary
        case .form(let form, let length?): "\(form.summary), \(length) characters long"
        }
    }
}

/// Reasons why a path has no value.
extension CataloguePath {
    /// The value at which the path ends too early, and the expected one. Called only if the path has no value.
    fileprivate func objection(in payload: borrowing PlatformPayload) -> String {
        var reached: (value: JSONValue, rest: ArraySlice<Token>)?
        for length in 1..<max(tokens.count, 2) where length < tokens.count {
            if let value = payload.value(at: beginning(length)) { reached = (value, tokens[length...]) }
        }
        guard let (value, rest) = reached, let next = rest.first?.summary else { return "there is no \(text)" }
        let pointer = payload.pointer(to: value)
        if payload.parser.container(value)?.isObject == true { return "\(pointer) has no \(next)" }
        return "\(pointer) is \(value.shortDescription); expected an object with \(next)"
    }
}

extension CataloguePath.Token {
    /// A token as its author wrote it; `a member` for `*`.
    fileprivate var summary: String {
        switch self {
        case .key(let key): String(decoding: key, as: UTF8.self)
        case .each: "a member"
        case .counted(let before, let after):
            String(decoding: before, as: UTF8.self) + "{i}" + String(decoding: after, as: UTF8.self)
        }
    }
}

extension CataloguePath.Scope {
    /// Follows the noun; empty for every object.
    fileprivate var summary: String {
        switch self {
        case .anywhere: ""
        case .apns: " next to `aps`"
        case .fcm: " in FCM's data"
        case .payload: " in the whole payload"
        }
    }
}

/// The part of `signalbox explain` about the catalogue.
extension Catalogue {
    /// The most lines of an explanation; further ones are dropped.
    private static let mostLines = 40

    /// The first line says how many vendors share a key with the payload; each further one, why a marker of such a
    /// vendor does not match.
    package func explain(_ payload: borrowing PlatformPayload) -> [String] {
        var checked: Set<Int> = []
        var candidates: [Int] = []
        forEachMarker(indexedFor: payload) { position in
            checked.insert(markers[position].entry)
            candidates.append(position)
        }
        let keys = Set(candidates.compactMap { markers[$0].marker.conditions.first?.keyText }).sorted()
        var lines = ["\(name): no marker of its \(entries.count) vendors begins with a key of this payload"]
        if !checked.isEmpty {
            lines = [
                "\(name): \(checked.count) of its \(entries.count) vendors examined, by \(keys.joined(separator: ", "))"
            ]
        }
        // Several markers of one vendor can fail for the same reason.
        var written: Set<String> = []
        for position in candidates.sorted() {
            let (entry, marker) = markers[position]
            guard let condition = marker.failing(in: payload) else { continue }
            let line = "  \(entries[entry].vendor): no; \(condition.objection(in: payload))"
            if written.insert(line).inserted { lines.append(line) }
        }
        return Array(lines.prefix(Self.mostLines))
    }
}
