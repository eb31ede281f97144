import SignalboxJSON

// Following paths through a payload. What is null is not there.

extension PlatformPayload {
    /// The first value to which a path leads, in the first place where it leads somewhere.
    func value(at path: CataloguePath, count: Int = 0) -> JSONValue? {
        var walk = CatalogueWalk(parser: parser, count: count, limit: 1)
        walk(path, through: self)
        return walk.found.first
    }

    /// All values to which a path leads, each once, up to the longest list that is read.
    func values(at path: CataloguePath, count: Int = 0) -> [JSONValue] {
        var walk = CatalogueWalk(parser: parser, count: count, limit: longestList)
        walk(path, through: self)
        return walk.found
    }

    /// The same over all layers: a key of the same name in a more specific object does not hide another one.
    func valuesEverywhere(at path: CataloguePath) -> [JSONValue] {
        var walk = CatalogueWalk(parser: parser, count: 0, limit: longestList)
        walk.coversEveryLayer = true
        walk(path, through: self)
        return walk.found
    }

    /// True when the payload has keys where such paths look.
    func has(_ place: CataloguePath.Place) -> Bool {
        place == .payload || fields.layers.contains { place.admits($0.reserved) }
    }

    /// The member with the first key, in alphabetical order, that has a prefix.
    func member(withPrefix prefix: [UInt8], in place: CataloguePath.Place) -> JSONValue? {
        var best: (key: UnsafeBufferPointer<UInt8>, value: JSONValue)?
        for layer in fields.layers where place.admits(layer.reserved) {
            for (key, value) in layer.object.members where key.starts(with: prefix) {
                if let best, !key.lexicographicallyPrecedes(best.key), !key.equals(best.key) { continue }
                best = (key, value)
            }
            if let best { return best.value }
        }
        return nil
    }
}

extension JSONParser {
    /// As ``PlatformPayload/value(at:count:)``, from an element of a list.
    func value(at path: CataloguePath, from start: JSONValue) -> JSONValue? {
        var walk = CatalogueWalk(parser: self, count: 0, limit: 1)
        walk.follow(path.tokens[...], from: start, mayOpen: true)
        return walk.found.first
    }

    /// An object or list, or the one whose JSON text a string holds.
    func container(_ value: JSONValue) -> JSONValue? {
        if value.isObject || value.isArray { return value }
        guard value.opensContainer else { return nil }
        do { return try parseText(in: value) } catch { return nil }
    }
}

/// One path on its way through one payload.
private struct CatalogueWalk {
    let parser: JSONParser
    /// What `{i}` stands for.
    let count: Int
    let limit: Int
    var coversEveryLayer = false
    var found: [JSONValue] = []

    init(parser: JSONParser, count: Int, limit: Int) {
        self.parser = parser
        self.count = count
        self.limit = limit
    }

    mutating func callAsFunction(_ path: CataloguePath, through payload: borrowing PlatformPayload) {
        guard path.place != .payload else { return follow(path.tokens[...], from: payload.root, mayOpen: true) }
        for layer in payload.fields.layers where path.place.admits(layer.reserved) {
            follow(path.tokens[...], from: layer.object, mayOpen: true)
            if !found.isEmpty, !coversEveryLayer { return }
        }
    }

    mutating func follow(_ tokens: ArraySlice<CataloguePath.Token>, from value: JSONValue, mayOpen: Bool) {
        guard !value.isNull, found.count < limit else { return }
        guard let token = tokens.first else { return found.append(value) }
        guard value.isObject || value.isArray else {
            guard mayOpen, let opened = parser.container(value) else { return }
            return follow(tokens, from: opened, mayOpen: false)
        }
        switch token {
        case .key(let key):
            if let next = member(key, of: value) { follow(tokens.dropFirst(), from: next, mayOpen: mayOpen) }
        case .counted(let before, let after):
            if let next = member(before + Array(String(count).utf8) + after, of: value) {
                follow(tokens.dropFirst(), from: next, mayOpen: mayOpen)
            }
        case .each:
            for (_, next) in value.orderedMembers { follow(tokens.dropFirst(), from: next, mayOpen: mayOpen) }
        }
    }

    private func member(_ key: [UInt8], of value: JSONValue) -> JSONValue? {
        if value.isObject { return key.withUnsafeBufferPointer { value.member($0) } }
        guard let position = Int(String(decoding: key, as: UTF8.self)), (0..<longestList).contains(position) else {
            return nil
        }
        return value.elements.dropFirst(position).first { _ in true }
    }
}

extension JSONValue {
    /// The elements of a list, or the members of an object in the order of their keys: what the order in which a sender
    /// wrote them cannot change.
    var orderedMembers: [(key: UnsafeBufferPointer<UInt8>?, value: JSONValue)] {
        guard isObject else { return elements.prefix(longestList).map { (nil, $0) } }
        var all: [(key: UnsafeBufferPointer<UInt8>?, value: JSONValue)] = []
        forEachMember { key, value in all.append((key, value)) }
        all.sort { left, right in
            guard let left = left.key, let right = right.key else { return false }
            return left.lexicographicallyPrecedes(right)
        }
        return Array(all.prefix(longestList))
    }

    /// True for a string that begins like the JSON text of an object or list.
    fileprivate var opensContainer: Bool {
        let first = utf8?.first { $0 != UInt8(ascii: " ") && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
}
