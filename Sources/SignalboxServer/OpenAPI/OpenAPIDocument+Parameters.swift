import SignalboxConfig

/// Parameters of the path, the query and the header.
extension OpenAPIDocument {
    /// Parameters of the path, then of the query, then references to header fields. Operators' endpoints have
    /// `x-request-id`.
    static func parameters(of endpoint: Endpoint) -> [JSONNode] {
        let fields = endpoint.contract.fields + (endpoint.hasOperatorFields ? [.requestID] : [])
        return endpoint.pathParameters.map { path($0, of: endpoint) }
            + endpoint.parameters.map { query($0) }
            + fields.map { ["$ref": .string("#/components/parameters/" + $0.rawValue)] }
    }

    /// Parameters of the path are always required, as OpenAPI demands.
    private static func path(_ name: String, of endpoint: Endpoint) -> JSONNode {
        ["name": .string(name), "in": "path", "required": true, "schema": schema(ofPath: name, endpoint.topic)]
    }

    /// Values of another form are answered with 404.
    private static func schema(ofPath name: String, _ topic: String) -> JSONNode {
        switch (name, topic) {
        case ("source", _), ("name", _): schema(of: .name)
        case ("sha256", _): ["type": "string", "pattern": "^[0-9a-f]{64}$"]
        case ("id", "deliveries"): ["type": "integer", "minimum": 1]
        case ("id", "events"):
            ["type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"]
        default: ["type": "string", "minLength": 1]
        }
    }

    private static func query(_ parameter: QueryParameter) -> JSONNode {
        [
            "name": .string(parameter.name), "in": "query", "required": .bool(parameter.isRequired),
            "description": .string(parameter.purpose), "schema": schema(of: parameter.form),
        ]
    }

    /// Only the form: the handler may accept fewer values, and the description names them.
    private static func schema(of form: QueryParameter.Form) -> JSONNode {
        switch form {
        case .text: ["type": "string"]
        case .pattern(let pattern): ["type": "string", "pattern": .string(pattern)]
        case .name: ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"]
        case .time: ["type": "string", "format": "date-time"]
        case .duration: ["type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$"]
        // The pattern of a time, because readers need not check formats (JSON Schema 2020-12, 7.2.1).
        case .end:
            [
                "anyOf": [
                    [
                        "type": "string", "format": "date-time",
                        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}",
                    ], ["type": "string", "pattern": "^0*[1-9][0-9]{0,9}(ms|s|m|h|d)$"],
                ]
            ]
        case .whole(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .words(let words): ["type": "string", "enum": .strings(words)]
        }
    }
}

extension Endpoint {
    /// The names in braces, in their order.
    var pathParameters: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }
}
