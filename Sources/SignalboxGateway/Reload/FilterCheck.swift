import SignalboxConfig
import SignalboxJSON
import SignalboxRouting

/// Finds fields that no event has, and conditions that no value meets, in a pattern on the command line. `routes check`
/// does the same for the patterns of routes.
package enum FilterCheck {
    /// A sentence for each finding. `vendors`: the names that `data.vendor` can have. Empty without a pattern, and for
    /// an invalid one, which is refused elsewhere.
    package static func warnings(about pattern: String?, vendors: Set<String>) -> [String] {
        guard let bytes = pattern.map({ Array($0.utf8) }), (try? Pattern(text: bytes)) != nil,
            let text = JSONParser.read(bytes, { JSONText($0) })
        else { return [] }
        var check = PatternCheck(vendors: vendors, diagnostics: ConfigDiagnostics())
        check.check(text, at: ConfigLocation(pointer: ""))
        return check.diagnostics.mistakes(in: [ConfigText(name: "--filter", bytes: bytes)]).map {
            "Warning: --filter \($0.description)" + ($0.description.hasSuffix("?") ? "" : ".")
        }
    }
}
