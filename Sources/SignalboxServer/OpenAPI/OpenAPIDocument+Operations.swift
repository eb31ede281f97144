import SignalboxConfig

/// Paths and their operations.
extension OpenAPIDocument {
    /// In the order of the endpoints.
    static var paths: JSONNode {
        var seen: Set<String> = []
        let paths = Endpoint.all.map(\.path).filter { seen.insert($0).inserted }
        return .object(
            paths.map { path in
                let operations = Endpoint.all.filter { $0.path == path }.map { endpoint in
                    JSONNode.Member(key: endpoint.method.lowercased(), value: operation(of: endpoint))
                }
                return JSONNode.Member(key: path, value: .object(operations))
            })
    }

    /// `x-action` names the change that the action log records.
    private static func operation(of endpoint: Endpoint) -> JSONNode {
        let contract = endpoint.contract
        var node: JSONNode = [
            "operationId": .string(contract.name), "tags": [.string(endpoint.topic)],
            "summary": .string(endpoint.purpose), "x-role": .string(endpoint.access.leastRole),
            "security": security(of: endpoint.access),
        ]
        if let operation = endpoint.operation { node = node.adding(["x-action": .string(operation.name)]) }
        let parameters = parameters(of: endpoint)
        if !parameters.isEmpty { node = node.adding(["parameters": .array(parameters)]) }
        if !contract.body.isEmpty {
            node = node.adding([
                "requestBody": ["required": .bool(!contract.isBodyOptional), "content": content(contract.body)]
            ])
        }
        return node.adding(["responses": answers(of: endpoint)])
    }

    /// Alternatives. An empty list means that the request needs no token. The list of each scheme is empty, because
    /// tokens have roles instead of scopes.
    private static func security(of access: Endpoint.Access) -> JSONNode {
        switch access {
        case .source: [["source": []]]
        case .role: [["operator": []]]
        case .sourceOr: [["source": []], ["operator": []]]
        case .link, .none: []
        }
    }

    /// The media types of a body.
    static func content(_ content: [EndpointContract.Content]) -> JSONNode {
        .object(
            content.map { content in
                switch content.form {
                case .named(let schema): JSONNode.Member(key: content.type, value: ["schema": reference(to: schema)])
                case .text: JSONNode.Member(key: content.type, value: ["schema": ["type": "string"]])
                // Without a schema: the bytes are not described (OpenAPI 3.1.1, 4.8.14.1).
                case .bytes: JSONNode.Member(key: content.type, value: [:])
                }
            })
    }

    /// `schema`: its name in the components.
    static func reference(to schema: String) -> JSONNode { ["$ref": .string("#/components/schemas/" + schema)] }
}

extension Endpoint {
    /// Method and path, such as `GET /v1/deliveries`.
    var key: String { "\(method) \(path)" }

    /// The part of the path that groups the endpoints; `service` for paths without a version. The tag of the operation,
    /// by which readers of the document group it.
    var topic: String {
        let parts = path.split(separator: "/")
        return parts.count > 1 && parts[0] == "v1" ? String(parts[1]) : "service"
    }

    /// Whether answers have the fields of operators' endpoints. All methods of a path have them, if one has.
    var hasOperatorFields: Bool { Self.all.contains { $0.path == path && $0.access.role != nil } }
}

extension Endpoint.Access {
    /// The lowest role of an operator; otherwise `source`, `link` or `none`.
    fileprivate var leastRole: String { role?.rawValue ?? words }
}
