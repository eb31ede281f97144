internal import CResources
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON

/// The parts of the document that are data: files of this folder, the schemas of events and of the config, and the
/// descriptions of errors.
extension OpenAPIDocument {
    /// Security schemes, headers of answers and parameters of operations, by the names that operations and answers
    /// refer to.
    static var components: JSONNode { embedded(sb_components_json()) }

    /// Every code with its usual status. A path or method without an operation is described here only.
    static var problems: JSONNode { .object(embedded(sb_problems_json()).members.flatMap(\.value.members)) }

    /// Each name once; a test checks that every reference has a schema.
    static var schemas: JSONNode {
        let files = [
            sb_problem_and_event_json(), sb_senders_json(), sb_inapp_requests_json(),
            sb_inapp_answers_json(), sb_events_json(), sb_operations_json(),
            sb_bulk_json(), sb_captures_json(), sb_routes_json(),
            sb_inspection_json(), sb_observation_json(), sb_service_json(), sb_webhooks_json(),
        ]
        return JSONNode.object(files.flatMap { embedded($0).members }).adding(events).adding(config)
    }

    private static func embedded(_ text: UnsafePointer<CChar>) -> JSONNode {
        JSONParser.read(embedded: text) { JSONNode($0) }
    }

    /// The schemas that `/schemas` serves, by the name of their component.
    private static let documents = [
        ("NotificationEvent", "notification"), ("InteractionEvent", "interaction"), ("InAppEvent", "inapp-event"),
        ("PushEvent", "push"), ("InAppMessageForm", "inapp"),
    ]

    /// The schemas of events. Traps if the program lacks one of ``documents``.
    private static var events: JSONNode {
        .object(
            documents.map { name, file in
                guard let text = EventSchema.text(named: file), let schema = JSONParser.read(text, { JSONNode($0) })
                else { preconditionFailure("The gateway has the schema \(file).") }
                return JSONNode.Member(key: name, value: component(schema, named: name))
            })
    }

    /// Without the members that a document of its own has, and with references into the components: not all readers of
    /// OpenAPI resolve `$id`.
    private static func component(_ schema: JSONNode, named name: String) -> JSONNode {
        let own = schema.members.filter { $0.key != "$schema" && $0.key != "$id" }
        return JSONNode.object(own).moved(to: "#/components/schemas/\(name)/$defs/")
    }

    /// The language of patterns, and the failure rules that the API accepts, whose name is in the path.
    private static var config: JSONNode {
        let root = ConfigSchema.root
        let pattern: JSONNode = ["$ref": "#/$defs/pattern", "$defs": root["$defs"]]
        let rule = root["properties"]["failures"]["items"]
        let form = rule.members.filter { $0.key != "required" }
        return [
            "Pattern": pattern.moved(to: "#/components/schemas/Pattern/$defs/"),
            "FailureRuleForm": JSONNode.object(form).moved(to: "#/components/schemas/Pattern/$defs/"),
        ]
    }
}

extension JSONNode {
    /// The member of an object; an empty object for any other value or key.
    fileprivate subscript(_ key: String) -> JSONNode { members.first { $0.key == key }?.value ?? [:] }

    /// The schema with its references to `#/$defs/` replaced by references to `location`.
    fileprivate func moved(to location: String) -> JSONNode {
        switch self {
        case .array(let elements): return .array(elements.map { $0.moved(to: location) })
        case .object(let members):
            return .object(
                members.map { member in
                    if member.key == "$ref", case .string(let target) = member.value, target.hasPrefix("#/$defs/") {
                        return Member(key: member.key, value: .string(location + target.dropFirst(8)))
                    }
                    return Member(key: member.key, value: member.value.moved(to: location))
                })
        default: return self
        }
    }
}
