package import SignalboxConfig
import SignalboxJSON

extension Pattern {
    /// Reads a pattern outside a config, by the rules of a route's `match`. Throws all mistakes, with JSON Pointers
    /// relative to the pattern. For filters of commands, such as replay. The bounds of one pattern apply, those of a
    /// whole config do not matter here. `text`: one JSON object; `{}` matches everything.
    package init(text: [UInt8]) throws(InvalidConfig) {
        let parser = JSONParser()
        let root = try parser.parse(text) { error in
            InvalidConfig(mistakes: [ConfigMistake(error, file: 0, in: text, of: .pattern)])
        }
        var patterns = PatternReader(ConfigReader(parser: parser, roots: [root]))
        patterns.reader.checkRepeats(in: root, RouteOptions.repeatedField)
        let pattern = patterns.pattern(root)
        try patterns.reader.diagnostics.throwErrors(in: [ConfigText(name: "", bytes: text)])
        self = pattern
    }
}
