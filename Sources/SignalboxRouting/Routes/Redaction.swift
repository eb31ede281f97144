package import SignalboxConfig
package import SignalboxJSON

/// The values of an event that a route removes or hides before its destinations receive it: a tree of JSON Pointers.
/// A pointer without a value in an event has no effect. An action applies to the whole value, with everything in it.
package struct Redaction: Sendable, Equatable {
    /// Without children, nothing is redacted.
    private var root = Node()

    /// A token of a pointer. A leaf has an action.
    private struct Node: Sendable, Equatable {
        /// Nil for a node on the way to other nodes.
        var action: RedactionAction?
        /// By the pointer's next token.
        var children: [Child] = []

        /// A next token of a pointer, with its node.
        struct Child: Sendable, Equatable {
            /// Unescaped; `*` stands for every element of an array.
            let token: [UInt8]
            var node = Node()
        }

        /// The node of an array element; nil if no pointer leads there.
        func element(_ position: Int) -> Node? {
            let token = Array(String(position).utf8)
            return children.first { $0.token == Redaction.anyElement || $0.token == token }?.node
        }

        /// The node of a member; nil if no pointer leads there.
        func member(_ key: UnsafeBufferPointer<UInt8>) -> Node? {
            children.first { $0.token.withUnsafeBufferPointer { key.equals($0) } }?.node
        }

        /// Adds an action at a path below; see ``Redaction/add(_:at:)``.
        mutating func add(_ action: RedactionAction, at tokens: ArraySlice<[UInt8]>) -> Bool {
            guard self.action == nil else { return false }
            guard let token = tokens.first else {
                guard children.isEmpty else { return false }
                self.action = action
                return true
            }
            if let position = children.firstIndex(where: { $0.token == token }) {
                return children[position].node.add(action, at: tokens.dropFirst())
            }
            // `*` and a position would both lead to one element, with different actions.
            guard !children.contains(where: { Redaction.overlap($0.token, token) }) else { return false }
            children.append(Child(token: token))
            return children[children.count - 1].node.add(action, at: tokens.dropFirst())
        }
    }

    /// Every element of an array.
    private static let anyElement = Array("*".utf8)

    /// Whether two tokens can lead to the same element of an array.
    private static func overlap(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        func isPosition(_ token: [UInt8]) -> Bool {
            token.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        return one == anyElement && isPosition(other) || other == anyElement && isPosition(one)
    }

    /// Redacts no value.
    package init() {}

    /// Adds an action for the value under a pointer into the event, in which `*` is every element of an array.
    /// Returns false and adds nothing if another pointer leads to the same value, to a part of it or to a value
    /// around it. `*` and a position cannot both lead into one array. Pointers of a checked config never overlap, so
    /// the order of the calls does not matter.
    package mutating func add(_ action: RedactionAction, at pointer: JSONPointer) -> Bool {
        root.add(action, at: pointer.tokens.map { Array($0.utf8) }[...])
    }

    /// Whether it redacts the value at a path, or something within it.
    func names(_ path: [String]) -> Bool {
        var node = root
        for token in path where node.action == nil {
            guard let child = node.children.first(where: { $0.token == Array(token.utf8) }) else { return false }
            node = child.node
        }
        return true
    }

    /// The redacted event, without `dataschema`, which no longer describes its data; nil if the event has none of the
    /// values. `hash`: returns the name that replaces a value. Copies all other values unchanged and keeps the order
    /// of members.
    package func redacted(_ event: JSONValue, hash: (_ value: [UInt8]) -> String) -> [UInt8]? {
        guard applies(root, to: event) else { return nil }
        var json = JSONWriter(reservingCapacity: 2048)
        json.beginObject()
        event.forEachMember { key, value in
            if key.equals("dataschema") { return }
            write(value, by: root.member(key), into: &json, hash: hash) { $0.key(utf8: key) }
        }
        json.endObject()
        return json.bytes
    }

    /// Whether a value contains a value that is redacted. Checked first, so that an event without such values is not
    /// written again.
    private func applies(_ node: Node, to value: JSONValue) -> Bool {
        if node.action != nil { return true }
        if value.isArray {
            return value.elements.enumerated().contains { position, element in
                node.element(position).map { applies($0, to: element) } ?? false
            }
        }
        return value.members.contains { key, member in node.member(key).map { applies($0, to: member) } ?? false }
    }

    /// `lead`: writes the member's key, unless the value is dropped. A hashed null stays null: it hides nothing.
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

/// Masks keep the type of each value, so receivers can still parse the event.
extension JSONWriter {
    /// Writes a value of the same structure without its content; see ``RedactionAction``.
    fileprivate mutating func masked(_ value: JSONValue) {
        switch value.kind {
        case .object:
            beginObject()
            value.forEachMember { key, member in
                self.key(utf8: key)
                masked(member)
            }
            endObject()
        case .array: array(of: value.elements) { $0.masked($1) }
        case .string: string(String(repeating: "*", count: Self.stars(value.utf8?.count ?? 0)))
        case .integer, .unsigned, .double: integer(0)
        case .bool: bool(false)
        case .null: null()
        }
    }

    /// The stars for a string of `count` bytes: they tell only roughly how long it is. Masking them again changes
    /// nothing.
    private static func stars(_ count: Int) -> Int {
        switch count {
        case 0: 0
        case ..<16: 4
        case ..<64: 16
        default: 64
        }
    }
}
