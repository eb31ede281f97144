import SignalboxJSON
import SignalboxTesting

/// A payload in which a few values were replaced by others, or left out.
struct StrangePayload {
    private(set) var bytes: [UInt8] = []
    private var position = 0
    private let replaced: [Int: String?]

    init(_ payload: [UInt8], using random: inout SeededGenerator) throws {
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        let root = try parser.parse(payload)
        let count = Self.count(root)
        var replaced: [Int: String?] = [:]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            // Never the root, which must stay an object.
            replaced[Int.random(in: 1..<max(2, count), using: &random)] =
                Self.values.randomElement(using: &random) ?? nil
        }
        self.replaced = replaced
        var writer = JSONWriter()
        write(root, to: &writer)
        bytes = writer.bytes
    }

    private static func count(_ value: JSONValue) -> Int {
        value.members.reduce(1) { $0 + count($1.value) } + value.elements.reduce(0) { $0 + count($1) }
    }

    private mutating func write(_ value: JSONValue, to writer: inout JSONWriter) {
        if value.isObject {
            writer.beginObject()
            for (key, member) in value.members {
                position += 1
                guard let other = replaced[position] else {
                    writer.key(utf8: key)
                    write(member, to: &writer)
                    continue
                }
                position += Self.count(member) - 1
                guard let other else { continue }
                writer.key(utf8: key)
                writer.raw(Array(other.utf8))
            }
            writer.endObject()
        } else if value.isArray {
            writer.beginArray()
            for element in value.elements {
                position += 1
                if let other = replaced[position] {
                    position += Self.count(element) - 1
                    writer.raw(Array((other ?? "null").utf8))
                } else {
                    write(element, to: &writer)
                }
            }
            writer.endArray()
        } else {
            writer.value(value)
        }
    }

    /// Nil leaves the value out.
    private static let values: [String?] = [
        nil, nil, "null", "true", "false", "0", "1", "-1", "1.5", "1e300", "18446744073709551615", #""""#, #"" ""#,
        #""x""#,
        #""\u0000""#, #""{}""#, #""[]""#, #""{\"a\":[1]}""#, #""true""#, #""12""#, #""https://a.example/x.png""#, "[]",
        "[[]]", #"[""]"#, #"["a",1,null,{}]"#, "[{}]", #"[{"type":"url","url":"","value":7,"name":"","title":null}]"#,
        "{}",
        #"{"":""}"#, #"{"a/b":{"m~n":[null]}}"#, #"{"url":"","type":"","title":{"a":1}}"#,
        #""\#(String(repeating: "long ", count: 300))""#,
    ]
}
