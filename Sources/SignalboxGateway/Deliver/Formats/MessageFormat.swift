import SignalboxJSON
import SignalboxStore

/// What goes to a webhook for one or more deliveries, before it is signed and compressed.
package struct WebhookMessage: Sendable, Equatable {
    /// Of the body; nil when there is none to be typed.
    package var contentType: String?
    /// Further headers of the format: names in lower case, values of visible ASCII.
    package var headers: [Header] = []
    package var body: [UInt8]

    package struct Header: Sendable, Equatable {
        package let name: String
        package let value: String
    }
}

/// A shape that messages have.
protocol MessageFormat: Sendable {
    /// Writes the message for these deliveries: exactly one, unless the format batches. The same deliveries make the same
    /// bytes, whenever they are asked for. What cannot be written now cannot be written later either.
    func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage
}

/// Why there is no message for a delivery, as a clause.
package struct UnwritableMessage: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension JSONParser {
    /// One that takes every event that the gateway stores.
    static func forEvents() -> JSONParser {
        var limits = Limits()
        limits.bytes = 64 * 1024 * 1024
        return JSONParser(limits: limits)
    }

    /// The event that a delivery carries.
    func event(of lease: Lease) throws(UnwritableMessage) -> JSONValue {
        do throws(JSONError) {
            return try parse(lease.body)
        } catch {
            throw UnwritableMessage("the stored event cannot be read")
        }
    }
}
