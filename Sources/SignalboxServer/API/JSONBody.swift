import SignalboxJSON
import SignalboxNotification

/// Reads the JSON object of an operator's request strictly: an ignored misspelled member could select everything.
enum JSONBody {
    /// Whether a body has no member: no bytes, whitespace, or the empty object that some HTTP clients always send.
    static func isAbsent(_ body: [UInt8]) -> Bool {
        guard body.count <= 1024 else { return false }
        let text = body.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return text.isEmpty || text == Array("{}".utf8)
    }

    /// Parses a body and passes its object to `read`. Values are valid during the call only. Throws
    /// ``Problem/body(_:at:)`` for a text that is not a JSON object, and the problems of `read`. `syntax`: the problem
    /// of a text that is not JSON. `refuse`: the problem of a mistake at a pointer.
    static func read<Value>(
        _ body: [UInt8], known: [String],
        syntax: (JSONError, _ body: [UInt8]) -> Problem = { _, _ in .body("The body is not valid JSON.", at: "") },
        refuse: (_ detail: String, _ pointer: String) -> Problem = Problem.body,
        _ read: (JSONValue) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) { () throws(Problem) -> Value in
            let root = try parser.parse(body) { syntax($0, body) }
            try check(root, at: "", known: known, refuse: refuse)
            return try read(root)
        }
    }

    /// Throws for a value that is not an object, and for an unknown or repeated member. Names the nearest known one.
    /// Reads at most the first 100 bytes of a name.
    static func check(
        _ object: JSONValue, at pointer: String, known: [String],
        refuse: (_ detail: String, _ pointer: String) -> Problem = Problem.body
    ) throws(Problem) {
        guard object.isObject else { throw refuse("Expected a JSON object.", pointer) }
        var seen: Set<String> = []
        for (key, _) in object.members {
            let name = String(decoding: key.prefix(100), as: UTF8.self)
            let place = "\(pointer)/\(JSONPointer.escape(name))"
            guard known.contains(name) else {
                let near = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
                throw refuse(
                    "Unknown member \"\(name)\"; \(near ?? "known: \(known.joined(separator: ", ")).")", place)
            }
            guard seen.insert(name).inserted else { throw refuse("\(name) occurs twice: keep one of them.", place) }
        }
    }
}
