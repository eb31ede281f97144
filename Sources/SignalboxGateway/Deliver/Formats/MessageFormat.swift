import SignalboxJSON
import SignalboxStore

/// The request of one or more deliveries, before it is signed and compressed.
package struct WebhookMessage: Sendable, Equatable {
    /// Type of the body; nil for none.
    package var contentType: String?
    /// Headers of the format: names in lower case, values of visible ASCII.
    package var headers: [Header] = []
    package var body: [UInt8]

    package struct Header: Sendable, Equatable {
        package let name: String
        package let value: String
    }
}

/// A message format.
protocol MessageFormat: Sendable {
    /// Writes the message for these deliveries: exactly one, unless the format batches. Deterministic: the same
    /// deliveries make the same bytes, and a failure is permanent.
    func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage
}

/// Why a message cannot be written, as a clause.
package struct UnwritableMessage: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension JSONParser {
    /// Parses the event of a delivery.
    func event(of lease: Lease) throws(UnwritableMessage) -> JSONValue {
        do throws(JSONError) {
            return try parse(lease.body)
        } catch {
            throw UnwritableMessage("the stored event cannot be read")
        }
    }
}
