package import SignalboxJSON

/// The registry: every envelope that a push can come in. The first whose marks are found has it, so the envelopes with
/// marks of their own stand before those that are known by their shape.
package enum Platforms {
    static let formats: [any EnvelopeFormat] = [
        APNsThroughFCM(), APNs(), InApp(), FCMV1(), ADM(), FCMLegacy(), FCMWrapper(), FCMExtras(), FCMData(), Other(),
    ]

    /// The envelopes in the order in which they are asked.
    package static var envelopes: [Envelope] { formats.map(\.envelope) }

    /// Says which push service a payload is written for and where vendors put their keys in it. Whatever else is wrong
    /// becomes a warning.
    package static func recognise(
        _ root: JSONValue, size: Int, parser: JSONParser
    ) throws(PlatformError) -> PlatformPayload {
        guard root.isObject else { throw .notAnObject }
        let arrival = Arrival(root: JSONObject(root), size: size, parser: parser)
        // By position: to iterate over the formats would copy each of them, for every payload.
        for position in formats.indices where formats[position].recognises(arrival) {
            return formats[position].payload(of: arrival)
        }
        preconditionFailure("The last envelope of the registry takes every object.")
    }
}

/// Why a JSON text is no payload.
package enum PlatformError: Error, Equatable, Sendable {
    case notAnObject
}

/// One envelope: its marks, and where things stand in it.
protocol EnvelopeFormat: Sendable {
    var envelope: Envelope { get }

    /// True when a payload bears the marks of this envelope. Must not allocate: it is asked for every payload.
    func recognises(_ arrival: Arrival) -> Bool

    /// Opens an object that this format recognises.
    func payload(of arrival: Arrival) -> PlatformPayload
}
