import Foundation
import SignalboxGateway
import SignalboxInApp
import Testing

/// The schemas are written manually, next to the readers. Validators of `make test` check the forms and events of the
/// tests against them.
@Suite struct InAppSchemaTests {
    private typealias Node = [String: Any]

    private func schema(_ name: String) throws -> Node {
        let text = try #require(EventSchema.text(named: name))
        return try #require(try JSONSerialization.jsonObject(with: Data(text)) as? Node)
    }

    private func keys(_ node: Any?) throws -> Set<String> {
        let properties = try #require((node as? Node)?["properties"] as? Node)
        return Set(properties.keys)
    }

    private func names(_ keys: [StaticString]) -> Set<String> { Set(keys.map(\.description)) }

    @Test func listsTheMembersThatTheReaderKnows() throws {
        let schema = try schema("inapp")
        let definitions = try #require(schema["$defs"] as? Node)
        let members = try #require(schema["properties"] as? Node)
        #expect(try keys(schema) == names(FormKeys.message))
        #expect(try keys(members["schedule"]) == names(FormKeys.schedule))
        #expect(try keys(members["requires"]) == names(FormKeys.requirements))
        #expect(try keys(members["pair"]) == names(FormKeys.pair))
        #expect(try keys(members["address"]) == names(FormKeys.address))
        #expect(try keys(definitions["limit"]) == names(FormKeys.limit))
        #expect(try keys(definitions["condition"]) == names(FormKeys.condition + FormKeys.comparisons))
        let kinds = (members["kind"] as? Node)?["enum"] as? [String]
        #expect(kinds == Message.Kind.allCases.map(\.rawValue))
    }

    @Test func listsEveryTriggerWithItsMembers() throws {
        let definitions = try #require(try schema("inapp")["$defs"] as? Node)
        let triggers = try #require((definitions["trigger"] as? Node)?["oneOf"] as? [Node])
        var found: [String: Set<String>] = [:]
        for trigger in triggers {
            let properties = try #require(trigger["properties"] as? [String: Node])
            let type = try #require(properties["type"]?["const"] as? String)
            found[type] = Set(properties.keys).subtracting(["type"])
        }
        for type in FormKeys.TriggerType.allCases { #expect(found[type.rawValue] == names(FormKeys.trigger(type))) }
        #expect(found.count == FormKeys.TriggerType.allCases.count)
    }

    @Test func listsEveryEventOfATrigger() throws {
        let definitions = try #require(try schema("inapp-event")["$defs"] as? Node)
        let data = try #require((definitions["transition"] as? Node)?["properties"] as? [String: Node])
        let trigger = try #require(data["trigger"]?["properties"] as? [String: Node])
        #expect(trigger["type"]?["enum"] as? [String] == TriggerEvent.Kind.allCases.map(\.rawValue))
        let members = Set(TriggerEvent.Kind.allCases.flatMap { FormKeys.event($0).map(\.description) })
        #expect(Set(trigger.keys) == members.subtracting(["properties"]).union(["type"]))
    }

    @Test func describesEveryMember() throws {
        for name in ["inapp", "inapp-event"] {
            let root = try schema(name)
            #expect(root["title"] != nil && root["description"] != nil)
            func check(_ node: Any, at path: String) {
                if let node = node as? Node {
                    for (key, member) in node["properties"] as? [String: Node] ?? [:] {
                        #expect(member["description"] is String, "\(name) \(path)/\(key)")
                    }
                    // Conditions repeat members only to name their values.
                    for (key, part) in node where !["if", "then", "else", "examples"].contains(key) {
                        check(part, at: "\(path)/\(key)")
                    }
                } else if let list = node as? [Any] {
                    for part in list { check(part, at: path) }
                }
            }
            check(root, at: "")
        }
    }
}
