import Foundation
import SignalboxJSON
import Testing

/// The tokens of `Fixtures/tokens.json`, which `Tests/make-provider-tokens.py` makes.
struct ProviderTokens {
    /// The time for which the tokens were made.
    static let now = Date(timeIntervalSince1970: 1_795_210_140)

    let keys: [String: String]
    private let tokens: [String: String]

    init() throws {
        let file = try #require(
            Bundle.module.url(forResource: "tokens", withExtension: "json", subdirectory: "Fixtures"))
        let parser = JSONParser()
        let root = try parser.parse([UInt8](Data(contentsOf: file)))
        func texts(_ key: StaticString) -> [String: String] {
            var texts: [String: String] = [:]
            root[key]?.forEachMember { name, value in
                texts[String(decoding: name, as: UTF8.self)] = value.string
            }
            return texts
        }
        (keys, tokens) = withExtendedLifetime(parser) { (texts("keys"), texts("tokens")) }
    }

    /// The token of this name; traps without one.
    subscript(_ name: String) -> String {
        guard let token = tokens[name] else { preconditionFailure("There is no token \(name).") }
        return token
    }
}
