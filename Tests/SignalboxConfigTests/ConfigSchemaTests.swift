import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import Testing

/// The schema and the reference derive from the declarations of the options; these tests check what the compiler
/// cannot.
@Suite struct ConfigSchemaTests {
    /// Every description in the schema, by JSON Pointer.
    private func descriptions(_ value: JSONValue, at pointer: String = "") -> [String: String] {
        var found: [String: String] = [:]
        for (key, member) in value.members {
            let key = String(decoding: key, as: UTF8.self)
            if key == "properties" || !member.isObject {
                if key == "description", let text = member.string { found[pointer] = text }
                for (name, property) in member.members {
                    found.merge(descriptions(property, at: pointer + "/" + String(decoding: name, as: UTF8.self))) {
                        $1
                    }
                }
            } else {
                found.merge(descriptions(member, at: pointer)) { $1 }
            }
        }
        for element in value.elements { found.merge(descriptions(element, at: pointer)) { $1 } }
        return found
    }

    @Test func everyOptionIsDescribedInSentences() throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let all = descriptions(try parser.parse(Array(ConfigSchema.text.utf8)))
            #expect(all.count > 90)
            for (pointer, text) in all {
                #expect(text.hasSuffix(".") && text.first?.isUppercase == true, "\(pointer): \(text)")
            }
        }
    }

    /// The schema of patterns is written manually, next to the reader in SignalboxRouting.
    @Test func readerAndSchemaKnowTheSameComparisons() throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let schema = try parser.parse(Array(ConfigSchema.text.utf8))
            let properties = try #require(
                schema["$defs"]?["condition"]?["anyOf"]?.elements.compactMap { $0["properties"] }.first)
            let known = Set(properties.members.map { String(decoding: $0.key, as: UTF8.self) })
            #expect(known == Set(Pattern.comparisons))
        }
    }

    @Test func defaultsInSchemaAreThoseOfTheValues() throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let schema = try parser.parse(Array(ConfigSchema.text.utf8))
            let properties = try #require(schema["properties"])
            let webhook = try #require(properties["destinations"]?["additionalProperties"]?["else"]?["properties"])
            let destination = Destination(name: DestinationName("d"), endpoint: .inbox)
            #expect(webhook["concurrency"]?["default"]?.integer == Int64(destination.concurrency))
            #expect(webhook["retry"]?["properties"]?["max"]?["default"]?.string == destination.retry.max.text)
            #expect(webhook["format"]?["default"]?.string == "cloudevents")
            let media = try #require(properties["media"]?["properties"])
            #expect(media["retry"]?["properties"]?["attempts"]?["default"]?.integer == 5)
        }
    }

    /// The number of empty defaults that their own schema rejects. An editor may write them into a config.
    private func invalidDefaults(_ node: JSONNode) -> Int {
        if case .array(let elements) = node { return elements.map { invalidDefaults($0) }.reduce(0, +) }
        let value = node.members.first { $0.key == "default" }?.value
        let bound = value == .array([]) ? "minItems" : value == .string("") ? "minLength" : "none"
        let isInvalid = node.members.contains { $0.key == bound }
        return (isInvalid ? 1 : 0) + node.members.map { invalidDefaults($0.value) }.reduce(0, +)
    }

    @Test func defaultsInSchemaAreValid() {
        #expect(invalidDefaults(ConfigSchema.root) == 0)
    }
}
