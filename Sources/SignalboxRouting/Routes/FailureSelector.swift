package import SignalboxConfig
import SignalboxJSON

/// A failure rule whose pattern is compiled.
package struct FailureSelector: Sendable, Equatable {
    /// Without its location, so that equal rules of two configs are equal.
    package let rule: FailureRule
    /// Nil for a rule without a pattern, and for `{}`.
    package let pattern: Pattern?

    init(_ rule: FailureRule, _ pattern: Pattern?) {
        var rule = rule
        rule.location = ConfigLocation(pointer: "")
        self.rule = rule
        self.pattern = pattern == .everything ? nil : pattern
    }

    /// Reads a rule outside a config, by the declaration of the config's rules. It may leave out its name. Throws all
    /// mistakes, with JSON Pointers relative to the rule.
    package init(text: [UInt8], named name: String) throws(InvalidConfig) {
        let parser = JSONParser()
        let root = try parser.parse(text) { error in
            InvalidConfig(mistakes: [ConfigMistake(error, file: 0, in: text, of: .body)])
        }
        var reader = ConfigReader(parser: parser, roots: [root])
        let rule = FailureRule.read(root, named: name, &reader)
        var patterns = PatternReader(reader)
        let pattern = root["match"].map { patterns.pattern($0) }
        try patterns.reader.diagnostics.throwErrors(in: [ConfigText(name: "", bytes: text)])
        guard let rule else { preconditionFailure("A rule that cannot be read has an error.") }
        self.init(rule, pattern)
    }
}
