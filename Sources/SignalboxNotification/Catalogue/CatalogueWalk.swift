import SignalboxJSON

// Values at paths of a payload. A null counts as absent.

/// Layers are searched in their order: the most specific object first.
extension PlatformPayload {
    /// The first value at a path, in the first layer with one. `count`: the number for `{i}`. `table`: shared by the
    /// lookups of all numbers. With `*`, the first
    /// element with a value counts. A string on the way that contains JSON is opened, once.
    func value(at path: CataloguePath, count: Int = 0, by table: JSONMemberTable? = nil) -> JSONValue? {
        guard path.keys.isEmpty else { return value(atKeysOf: path) }
        var walk = CatalogueWalk(parser: parser, count: count, table: table, limit: 1)
        walk.follow(path, through: self)
        return walk.found.first
    }

    /// The same for a path of keys alone. Most paths of an entry have no value in a payload; the key filter of a layer
    /// rules them out without a visit of its members.
    private func value(atKeysOf path: CataloguePath) -> JSONValue? {
        guard path.scope != .payload else { return parser.value(at: path.keys, from: root) }
        for layer in fields.layers where path.scope.admits(layer.reserved) {
            if layer.object.isObject {
                guard let member = layer.contents.member(searching: path.keys[0]) else { continue }
                if path.keys.count == 1 {
                    if !member.isNull { return member }
                } else if let value = parser.value(at: path.keys, after: 1, from: member) {
                    return value
                }
            } else if let value = parser.value(at: path.keys, from: layer.object) {
                return value
            }
        }
        return nil
    }

    /// All values at a path in the first layer with one, at most ``longestList``.
    func values(at path: CataloguePath, count: Int = 0, by table: JSONMemberTable? = nil) -> [JSONValue] {
        guard path.keys.isEmpty else { return value(atKeysOf: path).map { [$0] } ?? [] }
        var walk = CatalogueWalk(parser: parser, count: count, table: table, limit: longestList)
        walk.follow(path, through: self)
        return walk.found
    }

    /// All values at a path in every layer, including those that a more specific object overrides.
    func valuesInEveryLayer(at path: CataloguePath) -> [JSONValue] {
        var walk = CatalogueWalk(parser: parser, limit: longestList)
        walk.coversEveryLayer = true
        walk.follow(path, through: self)
        return walk.found
    }

    /// True when the payload has an object in this scope. `payload` always exists.
    func has(_ scope: CataloguePath.Scope) -> Bool {
        scope == .payload || fields.layers.contains { scope.admits($0.reserved) }
    }

    /// The member with the alphabetically first key that has a prefix. Bytes decide the order, so the sender's order
    /// of keys does not matter.
    func member(withPrefix prefix: [UInt8], in scope: CataloguePath.Scope) -> JSONValue? {
        var best: (key: UnsafeBufferPointer<UInt8>, value: JSONValue)?
        for layer in fields.layers where scope.admits(layer.reserved) {
            for (key, value) in layer.object.members where key.starts(with: prefix) && !value.isNull {
                if let best, !key.lexicographicallyPrecedes(best.key), !key.equals(best.key) { continue }
                best = (key, value)
            }
            if let best { return best.value }
        }
        return nil
    }
}

/// Paths of buttons and pictures lead from their element, not from the payload.
extension JSONParser {
    /// The first value at a path below an element of a list.
    func value(at path: CataloguePath, from start: JSONValue) -> JSONValue? {
        guard path.keys.isEmpty else { return value(at: path.keys, from: start) }
        var walk = CatalogueWalk(parser: self, limit: 1)
        walk.follow(path.tokens[...], from: start, mayOpen: true)
        return walk.found.first
    }

    /// The value at keys below a value; nil for null. `position`: of the first key to follow. Gives what
    /// ``CatalogueWalk`` finds, without a list of values.
    fileprivate func value(
        at keys: UnsafeBufferPointer<JSONKey>, after position: Int = 0, from start: JSONValue
    ) -> JSONValue? {
        var value = start
        var mayOpen = true
        for position in position..<keys.count {
            if !value.isObject, !value.isArray {
                guard mayOpen, let opened = container(value) else { return nil }
                (value, mayOpen) = (opened, false)
            }
            let key = keys[position]
            guard let next = value.isObject ? value.member(searching: key) : value.element(numbered: key.bytes) else {
                return nil
            }
            value = next
        }
        return value.isNull ? nil : value
    }
}

extension JSONValue {
    /// The element of a list whose number a key spells. Numbers from ``longestList`` on have no element.
    fileprivate func element(numbered key: some Collection<UInt8>) -> JSONValue? {
        // Digits only, no leading zero (RFC 6901, 4).
        guard key.allSatisfy(\.isDigit), key.count == 1 || key.first != UInt8(ascii: "0"),
            let position = Int(String(decoding: key, as: UTF8.self)), position < longestList
        else { return nil }
        return elements.dropFirst(position).first { _ in true }
    }
}

/// Follows one path through one payload.
private struct CatalogueWalk {
    /// Opens strings that contain JSON.
    let parser: JSONParser
    /// The number for `{i}`.
    var count = 0
    /// Finds the members of large objects, if keys count up.
    var table: JSONMemberTable?
    /// The most values to find.
    let limit: Int
    /// True to continue after the first layer with a value, as for device tokens.
    var coversEveryLayer = false
    /// In the order of the layers and, within a layer, of the elements.
    var found: [JSONValue] = []

    /// Follows a path in its scope, and stops at the first layer with a value unless every layer counts.
    mutating func follow(_ path: CataloguePath, through payload: borrowing PlatformPayload) {
        guard path.scope != .payload else { return follow(path.tokens[...], from: payload.root, mayOpen: true) }
        for layer in payload.fields.layers where path.scope.admits(layer.reserved) {
            follow(path.tokens[...], from: layer.object, mayOpen: true)
            if !found.isEmpty, !coversEveryLayer { return }
        }
    }

    /// Follows the remaining tokens from a value. `mayOpen`: whether no string was parsed on the path yet.
    mutating func follow(_ tokens: ArraySlice<CataloguePath.Token>, from value: JSONValue, mayOpen: Bool) {
        guard !value.isNull, found.count < limit else { return }
        guard let token = tokens.first else { return found.append(value) }
        guard value.isObject || value.isArray else {
            guard mayOpen, let opened = parser.container(value) else { return }
            return follow(tokens, from: opened, mayOpen: false)
        }
        switch token {
        case .key(let key):
            if let next = member(key, sharing: key, of: value) {
                follow(tokens.dropFirst(), from: next, mayOpen: mayOpen)
            }
        case .counted(let before, let after):
            if let next = member(before + Array(String(count).utf8) + after, sharing: before, of: value) {
                follow(tokens.dropFirst(), from: next, mayOpen: mayOpen)
            }
        case .each:
            for (_, next) in value.orderedMembers { follow(tokens.dropFirst(), from: next, mayOpen: mayOpen) }
        }
    }

    /// A member of an object, or the element of a list with this number.
    private func member(_ key: [UInt8], sharing prefix: [UInt8], of value: JSONValue) -> JSONValue? {
        if value.isObject {
            if let table { return table.member(key, sharing: prefix, of: value) }
            return key.withUnsafeBufferPointer { value.member($0) }
        }
        return value.element(numbered: key)
    }
}

/// An order that does not depend on the sender, so equal payloads give equal events.
extension JSONValue {
    /// The elements of a list, or the members of an object in the order of their keys, so that the sender's order of
    /// members has no effect. At most ``longestList`` of them. The key is nil for elements of a list.
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
}
