internal import CResources
import SignalboxJSON

/// A warning code of an event, as docs/reference/warnings.md lists it. Codes are stable; a test compares the list in
/// `warnings.json` with the codes in the sources.
package struct WarningDescription: Sendable {
    /// The code; one that begins with `VENDOR.` exists for every vendor of the catalogue.
    package let code: String
    /// The condition: one or two sentences, in Markdown.
    package let meaning: String

    /// Every code that events can have. `vendors`: the names of all vendors.
    package static func codes(of vendors: Set<String>) -> Set<String> {
        var codes: Set<String> = []
        for code in all.map(\.code) {
            if code.hasPrefix("VENDOR.") {
                for vendor in vendors { codes.insert(vendor + code.dropFirst("VENDOR".count)) }
            } else {
                codes.insert(code)
            }
        }
        return codes
    }

    /// Every code, in the order of `warnings.json`, which groups them by component.
    package static let all = JSONParser.read(embedded: sb_warnings_json()) { root in
        root.members.map { code, meaning in
            WarningDescription(code: String(decoding: code, as: UTF8.self), meaning: meaning.string ?? "")
        }
    }
}
