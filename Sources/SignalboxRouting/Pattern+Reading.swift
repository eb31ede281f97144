import SignalboxJSON

extension Pattern {
    /// Reads a pattern that stands by itself, by the rules of a route's `match`. Fails with every mistake found, their
    /// JSON Pointers counted from the pattern.
    package init(text: [UInt8]) throws(InvalidConfig) {
        let parser = JSONParser()
        let root: JSONValue
        do throws(JSONError) {
            root = try parser.parse(text)
        } catch {
            throw InvalidConfig(mistakes: [ConfigMistake(error, file: 0, in: text)])
        }
        var reader = ConfigReader(parser: parser, roots: [root], detectors: [], sourceVendors: [])
        let pattern = reader.pattern(root)
        guard reader.errorCount == 0 else {
            throw InvalidConfig(mistakes: reader.mistakes(in: [ConfigText(name: "", bytes: text)]))
        }
        self = pattern
    }
}
