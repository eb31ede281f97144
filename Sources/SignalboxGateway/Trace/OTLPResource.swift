import Foundation
import SignalboxConfig
import SignalboxJSON

/// The description of the process in every export.
struct OTLPResource: Sendable {
    /// A `resource` object as JSON.
    private let resource: [UInt8]
    /// A `scope` object as JSON.
    private let scope: [UInt8]

    /// One for each process, so that a collector does not mix the sums of several.
    private static let instance = UUID().uuidString.lowercased()

    /// `gateway`: the name of the config. `version`: of the program.
    init(_ settings: SecretResolver.Telemetry, gateway: String, version: String) {
        var attributes: [(name: String, value: String)] = [
            ("service.name", settings.serviceName), ("service.version", version),
            ("service.instance.id", Self.instance), ("signalbox.gateway", gateway),
        ]
        for pair in settings.attributes where !attributes.contains(where: { $0.name == pair.name }) {
            attributes.append((pair.name, pair.value))
        }
        resource = .jsonObject { $0.array("attributes", of: attributes) { $0.attribute($1.name, $1.value) } }
        scope = .jsonObject { json in
            json.member("name", "signalbox")
            json.member("version", version)
        }
    }

    /// Writes a request: one resource with one scope. `outer`, `inner` and `items`: the names of its arrays. `write`
    /// writes the elements of the innermost one.
    func request(
        _ outer: StaticString, _ inner: StaticString, _ items: StaticString, _ write: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        .jsonObject(capacity: 64 * 1024) { json in
            json.objects(outer, of: [resource]) { json, resource in
                json.member("resource", raw: resource)
                json.objects(inner, of: [scope]) { json, scope in
                    json.member("scope", raw: scope)
                    json.array(items, write)
                }
            }
        }
    }
}

/// The values of OTLP in JSON: names in lowerCamelCase, identifiers in hexadecimal, numbers of 64 bits as strings,
/// enumerations as numbers.
/// Source: github.com/open-telemetry/opentelemetry-proto, docs/specification.md, "JSON Protobuf Encoding"
extension JSONWriter {
    /// An attribute with a text.
    mutating func attribute(_ name: String, _ text: String) { attribute(name, "stringValue", text) }

    /// An attribute with a number.
    mutating func attribute(_ name: String, _ number: Int) { attribute(name, "intValue", String(number)) }

    private mutating func attribute(_ name: String, _ type: StaticString, _ value: String) {
        beginObject()
        member("key", name)
        object("value") { $0.member(type, value) }
        endObject()
    }

    /// Nanoseconds since 1970, exact to a microsecond. Dates before 1970 become 0.
    mutating func member(_ name: StaticString, nanosecondsOf date: Date) {
        let microseconds = UInt64(max(0, min(date.timeIntervalSince1970, 1e12)) * 1e6)
        member(name, String(microseconds * 1000))
    }
}
