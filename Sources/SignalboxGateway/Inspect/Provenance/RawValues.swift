import SignalboxJSON

/// The scalar values of a payload, including those of JSON texts inside its strings, and the payload with one of them
/// changed.
///
/// Not `Sendable`: it owns a parser, and its values are views into the parser's buffers.
struct RawValues {
    /// One scalar.
    struct Leaf {
        /// From the payload to the value.
        fileprivate let steps: [Step]
        /// Continues through strings that hold JSON, as the evidence of detectors does.
        let pointer: String
        let value: Scalar
        /// The strings that hold the JSON text with this value, the outermost first.
        let enclosing: [String]
        /// The pointer of the innermost of them; empty for a value of the payload itself.
        let container: String
    }

    fileprivate enum Step {
        case member([UInt8])
        case element(Int)
        /// Into the JSON text of a string.
        case text
    }

    /// The first ones of the payload.
    private(set) var leaves: [Leaf] = []
    /// False if the payload has more than the limit, or long pointers; see ``mostPointerBytes``.
    private(set) var isComplete = true

    private let parser: JSONParser
    private let root: JSONValue
    private let limit: Int
    /// JSON texts inside JSON texts.
    private static let deepestText = 4
    /// Bytes of all pointers up to the last leaf. A sender chooses the keys in them.
    private static let mostPointerBytes = 1 << 20
    private var pointerBytes = 0

    /// Reads a payload; nil unless it is JSON within the limits of payloads. `limit`: of the number of leaves.
    init?(_ payload: [UInt8], limit: Int) {
        parser = Normalizer.makeParser()
        self.limit = limit
        do throws(JSONError) { root = try parser.parse(payload) } catch { return nil }
        collect(root, Path())
    }

    /// The position of the walk.
    private struct Path {
        var steps: [Step] = []
        var pointer = ""
        var enclosing: [String] = []
        var container = ""

        func member(_ key: UnsafeBufferPointer<UInt8>) -> Path {
            var path = self
            path.steps.append(.member(Array(key)))
            path.pointer += "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
            return path
        }

        func element(_ position: Int) -> Path {
            var path = self
            path.steps.append(.element(position))
            path.pointer += "/\(position)"
            return path
        }

        func text(_ text: String) -> Path {
            var path = self
            path.steps.append(.text)
            path.enclosing.append(text)
            path.container = pointer
            return path
        }
    }

    /// Depth first, in the order of the text. The nesting is at most that of payloads, for each level of JSON texts.
    private mutating func collect(_ value: JSONValue, _ path: Path) {
        guard isComplete else { return }
        pointerBytes += path.pointer.utf8.count
        guard pointerBytes <= Self.mostPointerBytes else { return isComplete = false }
        if value.isObject {
            var members: [(UnsafeBufferPointer<UInt8>, JSONValue)] = []
            value.forEachMember { members.append(($0, $1)) }
            for (key, member) in members where isComplete { collect(member, path.member(key)) }
        } else if let scalar = Scalar(value) {
            guard leaves.count < limit else { return isComplete = false }
            leaves.append(
                Leaf(
                    steps: path.steps, pointer: path.pointer, value: scalar, enclosing: path.enclosing,
                    container: path.container))
            if let opened = open(value, path) { collect(opened, path.text(scalar.plain)) }
        } else {
            for (position, element) in value.elements.enumerated() where isComplete {
                collect(element, path.element(position))
            }
        }
    }

    /// The object or array that a string holds as JSON; nil for any other value.
    private func open(_ value: JSONValue, _ path: Path) -> JSONValue? {
        guard path.enclosing.count < Self.deepestText,
            let first = value.utf8?.first(where: { $0 > 0x20 }), first == 0x7B || first == 0x5B
        else { return nil }
        do throws(JSONError) { return try parser.parseText(in: value) } catch { return nil }
    }

    // MARK: Changes

    /// The payload with another value in place of a leaf; nil writes the same value again. JSON texts on the way to the
    /// leaf are written compactly.
    func payload(changing leaf: Leaf, to value: Scalar?) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 4096)
        write(root, leaf.steps[...], value, into: &json)
        return json.bytes
    }

    private func write(
        _ value: JSONValue, _ steps: ArraySlice<Step>, _ replacement: Scalar?, into json: inout JSONWriter
    ) {
        guard let step = steps.first else {
            if let replacement { replacement.write(into: &json) } else { json.value(value) }
            return
        }
        switch step {
        case .member(let name):
            json.beginObject()
            value.forEachMember { key, member in
                json.key(utf8: key)
                if key.elementsEqual(name) {
                    write(member, steps.dropFirst(), replacement, into: &json)
                } else {
                    json.value(member)
                }
            }
            json.endObject()
        case .element(let chosen):
            json.beginArray()
            for (position, element) in value.elements.enumerated() {
                if position == chosen {
                    write(element, steps.dropFirst(), replacement, into: &json)
                } else {
                    json.value(element)
                }
            }
            json.endArray()
        case .text:
            guard let opened = parser.opened(value) else { return json.value(value) }
            var inner = JSONWriter()
            write(opened, steps.dropFirst(), replacement, into: &inner)
            json.string(String(decoding: inner.bytes, as: UTF8.self))
        }
    }
}
