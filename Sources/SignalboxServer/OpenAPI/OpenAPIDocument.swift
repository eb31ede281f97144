package import SignalboxConfig

/// The description of the HTTP API in OpenAPI 3.1, with JSON Schema 2020-12. Derived from ``Endpoint/all``, the
/// contracts of the endpoints, and the schemas of this folder. The same for every gateway of a version.
package enum OpenAPIDocument {
    /// The document as JSON in UTF-8, on one line. Cheap: only the head depends on `version`, the version of the
    /// program.
    package static func text(version: String) -> [UInt8] {
        let head = JSONNode.object(head(version: version)).compact
        // Both are objects, so this is one with the members of both.
        return Array(head.utf8.dropLast(2)) + [UInt8(ascii: ",")] + rest
    }

    /// The document as a value, for the command line.
    package static func node(version: String) -> JSONNode { JSONNode.object(head(version: version)).adding(body) }

    /// Everything but the head, without the opening brace. Made once, when it is first needed.
    private static let rest = Array(body.compact.utf8.dropFirst(1))

    /// The members that depend on the program's version, in their order: `openapi`, `info` and the dialect of schemas.
    private static func head(version: String) -> [JSONNode.Member] {
        let info: JSONNode = [
            "title": "Signalbox", "version": .string(version), "summary": "A gateway for push notifications.",
            "description": .string(introduction),
            "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
        ]
        return [
            JSONNode.Member(key: "openapi", value: "3.1.0"), JSONNode.Member(key: "info", value: info),
            JSONNode.Member(key: "jsonSchemaDialect", value: "https://json-schema.org/draft/2020-12/schema"),
        ]
    }

    /// Internal for tests.
    static var body: JSONNode {
        [
            "servers": [["url": "/", "description": "The gateway that serves this document."]],
            "tags": .array(tags), "paths": paths, "webhooks": webhooks,
            "components": [
                "securitySchemes": securitySchemes, "headers": headers, "parameters": requestFields,
                "schemas": schemas,
            ],
            "x-problems": problems,
        ]
    }

    /// In CommonMark, which OpenAPI permits in descriptions.
    private static let introduction =
        "Every GET also answers HEAD. Errors are `application/problem+json` (RFC 9457) with a stable `code`; "
        + "`x-problems` describes each one. A path without an operation is answered with 404 `not-found`, another "
        + "method with 405 `method-not-allowed` and `allow`. `x-role` is the least role of the token, or `source`, "
        + "`link` or `none`. Without `admin` and `sources` in its config, a gateway that listens on loopback needs no "
        + "token. Answers and events may have further members in later versions: ignore those that you do not know. "
        + "The listeners for APNs and the proxy, and FCM's, Expo's and the token endpoints, follow the documents of "
        + "their push services and are not described here."

    /// Topics, in the order of the endpoints.
    private static var tags: [JSONNode] {
        var seen: Set<String> = []
        return Endpoint.all.map(\.topic).filter { seen.insert($0).inserted }.map { ["name": .string($0)] }
    }

    /// The names to which the operations refer. Both are bearer tokens (RFC 6750); their owners differ.
    private static let securitySchemes: JSONNode = [
        "source": [
            "type": "http", "scheme": "bearer",
            "description": "A token of the source, `sources.NAME.auth.bearer`.",
        ],
        "operator": [
            "type": "http", "scheme": "bearer",
            "description": "A token of `admin.auth.bearer` or `admin.tokens`, whose role includes `x-role`.",
        ],
    ]

    /// Every code with its usual status. A path or method without an operation is described here only.
    private static var problems: JSONNode {
        .object(
            (ProblemDescription.payloads + ProblemDescription.requests).map { problem in
                JSONNode.Member(
                    key: problem.code,
                    value: [
                        "status": .integer(problem.status), "meaning": .string(problem.meaning),
                        "remedy": .string(problem.remedy),
                    ])
            })
    }

    /// Answers refer to these by name.
    private static var headers: JSONNode {
        .object(AnswerField.allCases.map { JSONNode.Member(key: $0.rawValue, value: $0.node) })
    }

    /// The operations refer to these as parameters.
    private static var requestFields: JSONNode {
        .object(RequestField.allCases.map { JSONNode.Member(key: $0.rawValue, value: $0.node) })
    }
}
