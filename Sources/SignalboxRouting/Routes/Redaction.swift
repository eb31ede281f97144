package import SignalboxConfig
package import SignalboxJSON

/// What a route's destinations do not get to see of an event's data.
package struct Redaction: Sendable, Equatable {
    private var root = Node()

    package typealias Action = RedactionAction

    private struct Node: Sendable, Equatable {
        var action: Action?
        var branches: [Branch] = []

        func element(_ position: Int) -> Node? {
            let token = Array(String(position).utf8)
            return branches.first { $0.token == Redaction.any || $0.token == token }?.node
        }

        func member(_ key: UnsafeBufferPointer<UInt8>) -> Node? {
            branches.first { $0.token.withUnsafeBufferPointer { key.equals($0) } }?.node
        }
    }

    private struct Branch: Sendable, Equatable {
        let token: [UInt8]
        var node: Node
    }

    /// All elements of an array.
    private static let any = Array("*".utf8)

    package init() {}

    /// Adds what to do with what is under a pointer into the event, in which `*` means every element of an array. False when
    /// it stands within another one's, or has others within, or beside `*` names an element: then nothing was added.
    package mutating func add(_ action: Action, at pointer: JSONPointer) -> Bool {
        Self.add(action, at: pointer.tokens[...], to: &root)
    }

    /// Whether it redacts the value under these keys, or anything within it.
    func names(_ tokens: [String]) -> Bool {
        var node = root
        for token in tokens {
            guard node.action == nil else { return true }
            guard let branch = node.branches.first(where: { $0.token == Array(token.utf8) }) else { return false }
            node = branch.node
        }
        return true
    }

    private static func add(_ action: Action, at tokens: ArraySlice<String>, to node: inout Node) -> Bool {
        guard node.action == nil else { return false }
        guard let first = tokens.first else {
            guard node.branches.isEmpty else { return false }
            node.action = action
            return true
        }
        let token = Array(first.utf8)
        let position = node.branches.firstIndex { $0.token == token }
        // An element would be in two of them, each with other things to do.
        if position == nil, node.branches.contains(where: { excludes($0.token, token) }) { return false }
        if let position { return add(action, at: tokens.dropFirst(), to: &node.branches[position].node) }
        node.branches.append(Branch(token: token, node: Node()))
        return add(action, at: tokens.dropFirst(), to: &node.branches[node.branches.count - 1].node)
    }

    private static func excludes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        func isNumber(_ token: [UInt8]) -> Bool {
            token.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        return left == any && isNumber(right) || right == any && isNumber(left)
    }

    /// The event without all that; nil where it has nothing of it. It says no more which schema its data follow.
    /// `hash` names a value.
    package func redacted(_ event: JSONValue, hash: (_ value: [UInt8]) -> String) -> [UInt8]? {
        guard finds(root, in: event) else { return nil }
        var json = JSONWriter(reservingCapacity: 2048)
        json.beginObject()
        event.forEachMember { key, value in
            if key.equals("dataschema") { return }
            write(value, by: root.member(key), into: &json, hash: hash) { $0.key(utf8: key) }
        }
        json.endObject()
        return json.bytes
    }

    private func finds(_ node: Node, in value: JSONValue) -> Bool {
        if node.action != nil { return true }
        if value.isArray {
            return value.elements.enumerated().contains { position, element in
                node.element(position).map { finds($0, in: element) } ?? false
            }
        }
        return value.members.contains { key, member in node.member(key).map { finds($0, in: member) } ?? false }
    }

    /// `lead` writes what stands before a value, unless that is dropped.
    private func write(
        _ value: JSONValue, by node: Node?, into json: inout JSONWriter, hash: ([UInt8]) -> String,
        lead: (inout JSONWriter) -> Void
    ) {
        if node?.action == .drop { return }
        lead(&json)
        switch node?.action {
        case .mask: json.masked(value)
        case .hash where !value.isNull: json.string(hash(value.utf8.map { Array($0) } ?? JSONText(value).bytes))
        case .drop, .hash: json.value(value)
        case nil:
            if let node, value.isObject {
                json.beginObject()
                value.forEachMember { key, member in
                    write(member, by: node.member(key), into: &json, hash: hash) { $0.key(utf8: key) }
                }
                json.endObject()
            } else if let node, value.isArray {
                json.beginArray()
                for (position, element) in value.elements.enumerated() {
                    write(element, by: node.element(position), into: &json, hash: hash) { _ in }
                }
                json.endArray()
            } else {
                json.value(value)
            }
        }
    }
}

extension JSONWriter {
    /// Writes a value of the same form with nothing in it: texts as stars, numbers as 0, booleans as false.
    fileprivate mutating func masked(_ value: JSONValue) {
        switch value.kind {
        case .object:
            beginObject()
            value.forEachMember { key, member in
                self.key(utf8: key)
                masked(member)
            }
            endObject()
        case .array:
            beginArray()
            for element in value.elements { masked(element) }
            endArray()
        case .string: string(String(repeating: "*", count: Self.stars(value.utf8?.count ?? 0)))
        case .integer, .unsigned, .double: integer(0)
        case .bool: bool(false)
        case .null: null()
        }
    }

    /// For a text of so many bytes. What was masked before stays as it is.
    private static func stars(_ count: Int) -> Int {
        switch count {
        case 0: 0
        case ..<16: 4
        case ..<64: 16
        default: 64
        }
    }
}
