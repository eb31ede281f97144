import SignalboxJSON

/// A JSON value that tests take apart and put together again.
enum Tree {
    case object([(key: String, value: Tree)])
    case array([Tree])
    case string(String)
    case other(JSONText)

    init(_ bytes: [UInt8]) throws {
        // Values look into the parser's memory, which is gone after its last use.
        let parser = JSONParser()
        self = try withExtendedLifetime(parser) { Tree(try parser.parse(bytes)) }
    }

    private init(_ value: JSONValue) {
        switch value.kind {
        case .object:
            self = .object(value.members.map { (String(decoding: $0.key, as: UTF8.self), Tree($0.value)) })
        case .array: self = .array(value.elements.map { Tree($0) })
        case .string: self = .string(value.string ?? "")
        case .integer, .unsigned, .double, .bool, .null: self = .other(JSONText(value))
        }
    }

    var bytes: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .object(let members):
            writer.beginObject()
            for (key, value) in members {
                writer.key(key)
                value.write(to: &writer)
            }
            writer.endObject()
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .string(let text): writer.string(text)
        case .other(let json): writer.text(json)
        }
    }

    /// The text with all keys sorted; unchanged if it is not JSON.
    static func sorted(_ bytes: [UInt8]) -> String {
        String(decoding: (try? Tree(bytes))?.sorted.bytes ?? bytes, as: UTF8.self)
    }

    private var sorted: Tree {
        switch self {
        case .object(let members):
            .object(members.map { ($0.key, $0.value.sorted) }.sorted { $0.key < $1.key })
        case .array(let elements): .array(elements.map(\.sorted))
        case .string, .other: self
        }
    }
}

// MARK: Changes

extension Tree {
    /// Adds a key where the envelope has its vendor's keys.
    mutating func insertBesideVendorKeys(_ key: String, _ value: Tree) {
        guard case .object(var members) = self else { return }
        let isEnvelope = !members.contains { $0.key == "aps" }
        if isEnvelope,
            let inner = members.firstIndex(where: { ["message", "data"].contains($0.key) && $0.value.isObject })
        {
            members[inner].value.insertBesideVendorKeys(key, value)
        } else if !isEnvelope || !members.contains(where: { $0.value.isObject }) {
            members.append((key, value))
        }
        self = .object(members)
    }

    /// Adds a key to every object below the topmost that has keys already, save those under some keys.
    mutating func insertWithin(_ key: String, _ value: Tree, except exempt: Set<String>, isTopmost: Bool = true) {
        switch self {
        case .object(var members):
            for position in members.indices where !exempt.contains(members[position].key) {
                members[position].value.insertWithin(key, value, except: exempt, isTopmost: false)
            }
            if !isTopmost, !members.isEmpty { members.append((key, value)) }
            self = .object(members)
        case .array(var elements):
            for position in elements.indices {
                elements[position].insertWithin(key, value, except: exempt, isTopmost: false)
            }
            self = .array(elements)
        case .string, .other: break
        }
    }

    var isObject: Bool {
        if case .object = self { true } else { false }
    }

    /// Replaces the last string; false when there is none.
    mutating func replaceLastString(by text: String) -> Bool {
        switch self {
        case .object(var members):
            let isDone = members.indices.reversed().contains { members[$0].value.replaceLastString(by: text) }
            self = .object(members)
            return isDone
        case .array(var elements):
            let isDone = elements.indices.reversed().contains { elements[$0].replaceLastString(by: text) }
            self = .array(elements)
            return isDone
        case .string:
            self = .string(text)
            return true
        case .other: return false
        }
    }

    /// Puts the members of every object into another order.
    mutating func shuffle(using random: inout Seeded) {
        switch self {
        case .object(var members):
            members.shuffle(using: &random)
            for position in members.indices { members[position].value.shuffle(using: &random) }
            self = .object(members)
        case .array(var elements):
            for position in elements.indices { elements[position].shuffle(using: &random) }
            self = .array(elements)
        case .string, .other: break
        }
    }

    /// A text with the members of its object the other way round.
    static func reversed(_ text: String) throws -> [UInt8] {
        guard case .object(let members) = try Tree(Array(text.utf8)) else { return Array(text.utf8) }
        return Tree.object(members.reversed()).bytes
    }

    /// Replaces one value by anything.
    mutating func damage(using random: inout Seeded) {
        switch self {
        case .object(var members) where !members.isEmpty:
            let position = Int.random(in: members.indices, using: &random)
            members[position].value.damageOrReplace(using: &random)
            self = .object(members)
        case .array(var elements) where !elements.isEmpty:
            let position = Int.random(in: elements.indices, using: &random)
            elements[position].damageOrReplace(using: &random)
            self = .array(elements)
        case .object, .array, .string, .other: break
        }
    }

    private mutating func damageOrReplace(using random: inout Seeded) {
        if Bool.random(using: &random), isObject {
            damage(using: &random)
        } else {
            self = .leafOrTwig(using: &random)
        }
    }

    // MARK: Random trees

    /// An object of keys that envelopes and detectors look for.
    static func random(using random: inout Seeded, depth: Int = 3) -> Tree {
        let count = Int.random(in: 0...9, using: &random)
        return .object(
            (0..<count).map { _ in
                let key = Self.keys.randomElement(using: &random) ?? ""
                let isLeaf = depth == 0 || Bool.random(using: &random)
                return (key, isLeaf ? .leafOrTwig(using: &random) : .random(using: &random, depth: depth - 1))
            })
    }

    private static func leafOrTwig(using random: inout Seeded) -> Tree {
        switch Int.random(in: 0...9, using: &random) {
        case 0: .string("")
        case 1: .string(texts.randomElement(using: &random) ?? "")
        case 2: .array([])
        case 3: .array([.object([("type", .string("url"))]), .string("x"), .object([])])
        case 4: .object([])
        case 5: .string("{\"\(keys.randomElement(using: &random) ?? "")\":[{}]}")
        default: .other(JSONText(literal(using: &random)))
        }
    }

    private static func literal(using random: inout Seeded) -> JSONWriter {
        var writer = JSONWriter()
        switch Int.random(in: 0...4, using: &random) {
        case 0: writer.null()
        case 1: writer.bool(Bool.random(using: &random))
        case 2: writer.integer(Int64.random(in: .min ... .max, using: &random))
        case 3: writer.integer(UInt64.max)
        default: writer.double(Double.random(in: -1e300...1e300, using: &random))
        }
        return writer
    }

    private static let keys = [
        "aps", "alert", "badge", "sound", "category", "content-available", "event", "content-state", "message", "data",
        "notification", "android", "apns", "payload", "webpush", "token", "topic", "condition", "to", "gcm.n.title",
        "google.c.a.e", "issuer", "content-type", "content", "campaign", "buttons", "action", "type", "item",
        "rich-media", "carousel", "items", "page", "handler", "title", "body", "actionURL", "embargoDate", "custom_x",
        "notification-action", "category-actions", "mce", "inApp", "rules", "template", "subject", "expandable", "_ab",
        "ab", "ab_cat", "c_items", "ab_a0_a", "ab_a999_a", "ab_a99999999999999999999_a", "ab_c", "ab_c0_i", "t", "a",
        "cid", "pab", "extra", "att", "url", "value", "",
        "custom", "i", "k.message", "os_data", "itbl", "defaultAction", "actionButtons", "wzrk_pn", "wzrk_id", "nm",
        "com.batch", "com.urbanairship.metadata", "pw_msg", "pw_stories", "pages", "es_interaction_id", "es_buttons",
        "ems", "actions", "_sw", "_p", "_wp", "c", "body", "_k", "messageSource", "source", "uniqueKey", "clickUrl",
    ]

    private static let texts = [
        "Synerise", "com.sourse.notification", "true", "simple-push", "template-banner", "silent-command", "carousel",
        "url", "2024-02-29T00:00:00Z", "9999-12-31T23:59:59.999-23:59", "0000-01-01T00:00:00+23:59", "{", "{}", "[1]",
        "https://a.example", "\u{0}\u{1F389}", "5.57e+15", "1e999", "-", "ab_uri", "png",
    ]
}

/// A random generator that repeats itself (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
