import SignalboxJSON
import SignalboxModel

extension Pattern {
    /// Reads a pattern that stands by itself, by the rules of a route's `match`. Fails with every mistake found, their
    /// JSON Pointers counted from the pattern.
    package init(text: [UInt8]) throws(InvalidConfig) {
        let parser = JSONParser()
        do throws(JSONError) {
            _ = try parser.parse(text)
        } catch {
            let position = error.offset.map { TextPosition(offset: $0, in: text) }
            throw InvalidConfig(mistakes: [ConfigMistake(pointer: "", position: position, message: "this is not JSON")])
        }
        // As the match of a route, so that there is one reader of patterns.
        let before = Array(#"[{"name":"filter","to":["x"],"match":"#.utf8)
        let root: JSONValue
        do throws(JSONError) {
            parser.reset()
            root = try parser.parse(before + text + Array("}]".utf8))
        } catch {
            throw InvalidConfig(mistakes: [ConfigMistake(pointer: "", position: nil, message: "this is not JSON")])
        }
        var reader = ConfigReader(parser: parser, detectors: [], sourceVendors: [])
        let routes = reader.routes(root, destinations: [DestinationName("x")])
        guard reader.mistakes.isEmpty, let pattern = routes.first?.match else {
            throw InvalidConfig(
                mistakes: reader.mistakes.map { mistake in
                    let pointer = String(mistake.pointer.dropFirst("/0/match".count))
                    return ConfigMistake(
                        pointer: pointer, position: TextPosition(of: pointer, in: text), message: mistake.message)
                })
        }
        self = pattern
    }
}
