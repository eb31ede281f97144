internal import CResources
import SignalboxJSON
import SignalboxNotification

/// The JSON Schema (2020-12) of the config, made from the declarations of its options. For editors and other tools:
/// the gateway itself reads a config by the declarations and finds mistakes that a schema cannot express.
package enum ConfigSchema {
    /// With a line end. Deterministic, so a test compares it with docs/reference/routes.schema.json.
    package static var text: String { root.pretty() + "\n" }

    /// The schema as a value. The identifier changes with an incompatible version of the config only.
    package static var root: JSONNode {
        let head: JSONNode = [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "urn:signalbox:schema:routes:1",
            "title": "Signalbox config",
            "description":
                "The config: routes.json, and the files in routes.d next to it, which have sources, destinations and routes only. Run signalbox routes check for errors that a schema cannot find.",
        ]
        return head.adding(GatewayConfig.options.schema).adding(["$defs": definitions])
    }

    /// Recursive schemas. Referenced as `#/$defs/…` by the options that contain themselves.
    private static var definitions: JSONNode {
        let own: JSONNode = ["argument": ArgumentSchema.definition, "map": DataField.definition]
        return own.adding(patterns)
    }

    /// The language of event patterns, which SignalboxRouting reads.
    private static var patterns: JSONNode { JSONParser.read(embedded: sb_patterns_json()) { JSONNode($0) } }
}
