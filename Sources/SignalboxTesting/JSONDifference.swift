import SignalboxJSON

/// The differences between two JSON values, as readable lines. The order of an object's members is ignored.
package enum JSONDifference {
    /// One line for each place that differs, with its JSON Pointer. Members that only the actual value has are
    /// differences, save those named in `optional`. Empty for equal values. Throws for text that is not JSON. Numbers
    /// are compared as they are written.
    package static func lines(
        expected: [UInt8], actual: [UInt8], optional: Set<String> = []
    ) throws -> [String] {
        // Values look into the parser's memory, which is gone after its last use.
        let parser = JSONParser()
        return try withExtendedLifetime(parser) {
            lines(try parser.parse(expected), try parser.parse(actual), at: "", optional)
        }
    }

    private static func lines(
        _ expected: JSONValue, _ actual: JSONValue, at place: String, _ optional: Set<String>
    ) -> [String] {
        if expected.isObject, actual.isObject { return members(expected, actual, at: place, optional) }
        if expected.isArray, actual.isArray { return elements(expected, actual, at: place, optional) }
        let (wanted, found) = (JSONText(expected).string, JSONText(actual).string)
        return wanted == found ? [] : ["\(place): expected \(wanted), found \(found)"]
    }

    /// Members of the expected value come first, in its order.
    private static func members(
        _ expected: JSONValue, _ actual: JSONValue, at place: String, _ optional: Set<String>
    ) -> [String] {
        var found: [String] = []
        for (key, value) in expected.members {
            let name = String(decoding: key, as: UTF8.self)
            let path = place + "/" + JSONPointer.escape(name)
            if let other = actual.member(key) {
                found += lines(value, other, at: path, optional)
            } else {
                found.append("\(path): expected \(JSONText(value).string), found nothing")
            }
        }
        for (key, value) in actual.members where expected.member(key) == nil {
            let name = String(decoding: key, as: UTF8.self)
            guard !optional.contains(name) else { continue }
            found.append("\(place)/\(JSONPointer.escape(name)): expected nothing, found \(JSONText(value).string)")
        }
        return found
    }

    /// Compared by position: a missing element in the middle makes all later ones differ.
    private static func elements(
        _ expected: JSONValue, _ actual: JSONValue, at place: String, _ optional: Set<String>
    ) -> [String] {
        let wanted = Array(expected.elements)
        let present = Array(actual.elements)
        var found = zip(wanted, present).enumerated().flatMap { position, pair in
            lines(pair.0, pair.1, at: "\(place)/\(position)", optional)
        }
        for (position, value) in wanted.enumerated().dropFirst(present.count) {
            found.append("\(place)/\(position): expected \(JSONText(value).string), found nothing")
        }
        for (position, value) in present.enumerated().dropFirst(wanted.count) {
            found.append("\(place)/\(position): expected nothing, found \(JSONText(value).string)")
        }
        return found
    }
}
