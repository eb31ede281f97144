package import SignalboxJSON

/// Gives events the shapes that routes ask for. When a transformation fails, nobody gets what it should have hidden: the
/// data then are a warning that says why.
package struct EventShaper: Sendable {
    /// The code of that warning.
    package static let warning = "route.transform-failed"

    package let counts: RouteCounts
    private let hash: @Sendable (_ value: [UInt8]) -> String

    /// `hash` names values that are hashed, under the gateway's key.
    package init(counts: RouteCounts = RouteCounts(), hash: @escaping @Sendable (_ value: [UInt8]) -> String) {
        self.counts = counts
        self.hash = hash
    }

    /// The event as a target gets it; nil where that is as it is. `awaitsMedia`: true leaves the transformation for when the
    /// event has its media. `parser` is reset.
    package func shaped(
        _ event: [UInt8], for target: RouteTable.Target, awaitsMedia: Bool = false, with parser: JSONParser
    ) -> [UInt8]? {
        guard let shape = target.shape else { return nil }
        do throws(ShapingFailure) {
            return awaitsMedia
                ? try shape.redacted(event, with: parser, hash: hash)
                : try shape.applied(to: event, with: parser, hash: hash)
        } catch {
            if let route = target.route { counts.countFailure(of: route) }
            return Self.withoutData(event, failure: error, with: parser)
        }
    }

    /// What a route makes of an event that has been redacted and has its media now. Where the config does not have the
    /// route any more, or not its transformation, nobody gets what it should have hidden. `parser` is reset.
    package func transformed(
        _ event: [UInt8], by route: String, of routes: RouteTable, with parser: JSONParser
    ) -> [UInt8] {
        let shape = routes.routes.first { $0.name == route }?.shape
        do throws(ShapingFailure) {
            guard let bytes = try shape?.transformed(event, with: parser) else { throw .unknown }
            return bytes
        } catch {
            counts.countFailure(of: route)
            return Self.withoutData(event, failure: error, with: parser)
        }
    }

    private static func withoutData(_ event: [UInt8], failure: ShapingFailure, with parser: JSONParser) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        parser.reset()
        if let value = try? parser.parse(event) {
            value.forEachMember { key, value in
                if key.equals("data") || key.equals("dataschema") { return }
                json.key(utf8: key)
                json.value(value)
            }
        }
        json.key("data")
        json.beginObject()
        json.key("warnings")
        json.beginArray()
        json.beginObject()
        json.key("code")
        json.string(warning)
        json.key("path")
        json.string("")
        json.key("message")
        json.string("The route's transformation failed: \(failure).")
        json.endObject()
        json.endArray()
        json.endObject()
        json.endObject()
        return json.bytes
    }
}
