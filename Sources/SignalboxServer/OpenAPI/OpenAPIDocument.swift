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
            "components": components.adding(["schemas": schemas]),
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
}
