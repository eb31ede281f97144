import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct ConfigSchemaTests {
    /// The keys that the reader takes of an object, and those that the schema has there, are the same: of every object of
    /// every good config. And no object that the schema describes is one that no good config has.
    @Test func readerAndSchemaKnowTheSameKeys() throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            var schema = Schema(root: try parser.parse(ConfigSchema.text), parser: parser)
            for file in try FixtureFile.all(in: "configs/good") {
                let asked = try ConfigReader.askedKeys(of: file.bytes)
                for (pointer, keys) in asked {
                    let found = schema.keys(at: pointer)
                    #expect(
                        found.contains(Set(keys)), "\(file.name): \(pointer) takes \(keys), the schema has \(found)")
                }
            }
            // What stands in the arrays of patterns are no settings.
            let entries = ["/$defs/condition/", "/$defs/affix/"]
            let unread = schema.objects.subtracting(schema.visited).filter { pointer in
                !entries.contains { pointer.hasPrefix($0) }
            }
            #expect(unread.isEmpty, "no good config has these: \(unread.sorted())")
        }
    }

    @Test func readerAndSchemaKnowTheSameComparisons() throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let schema = try parser.parse(ConfigSchema.text)
            let properties = try #require(
                schema["$defs"]?["condition"]?["anyOf"]?.elements.compactMap { $0["properties"] }.first)
            let known = Set(properties.members.map { String(decoding: $0.key, as: UTF8.self) })
            #expect(known == Set(Pattern.comparisons))
        }
    }

    @Test func readerAndSchemaKnowTheSameTypesOfMedia() throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let schema = try parser.parse(ConfigSchema.text)
            let listed = try #require(
                schema["$defs"]?["mediaType"]?["anyOf"]?.elements.compactMap { $0["enum"] }.first)
            let known = MediaKind.allCases.filter { $0.family != nil }.flatMap(\.contentTypes)
            #expect(Set(listed.elements.compactMap(\.string)) == Set(known))
        }
    }

    /// Goes along pointers into a config through the schema of it.
    private struct Schema {
        let root: JSONValue
        let parser: JSONParser
        /// Pointers into the schema of objects that lists keys, and those of them that were met.
        private(set) var visited: Set<String> = []
        var objects: Set<String> {
            var found: Set<String> = []
            func look(_ value: JSONValue) {
                if value["properties"]?.isObject == true, value["additionalProperties"]?.bool == false {
                    found.insert(parser.pointer(to: value))
                }
                for (_, member) in value.members { look(member) }
                for element in value.elements { look(element) }
            }
            look(root)
            return found
        }

        init(root: JSONValue, parser: JSONParser) {
            self.root = root
            self.parser = parser
        }

        /// Of each alternative.
        mutating func keys(at pointer: String) -> [Set<String>] {
            var schemas = alternatives(of: root)
            for token in JSONPointer(pointer)?.tokens ?? [] {
                schemas = schemas.flatMap { schema -> [JSONValue] in
                    let next =
                        schema["properties"]?.member(token) ?? schema["items"]
                        ?? schema["additionalProperties"].flatMap { $0.isObject ? $0 : nil }
                    return next.map { alternatives(of: $0) } ?? []
                }
            }
            return schemas.compactMap { schema in
                guard let properties = schema["properties"] else { return nil }
                visited.insert(parser.pointer(to: schema))
                return Set(properties.members.map { String(decoding: $0.key, as: UTF8.self) })
            }
        }

        private func alternatives(of schema: JSONValue) -> [JSONValue] {
            var all = [schema]
            if let text = schema["$ref"]?.string, let target = JSONPointer(String(text.dropFirst()))?.value(in: root) {
                all += alternatives(of: target)
            }
            for key in ["oneOf", "anyOf", "allOf"] {
                if let list = schema.member(key), list.isArray { all += list.elements.flatMap { alternatives(of: $0) } }
            }
            for key in ["then", "else"] { if let branch = schema.member(key) { all += alternatives(of: branch) } }
            return all
        }
    }
}
