import SignalboxEgress
package import SignalboxStore

/// The `webhook-id` of a message, by which a receiver recognises a repeat.
package enum MessageID {
    // The key separates this digest from others; it is not secret.
    private static let digest = MessageAuthentication(key: Array("signalbox: id of a batch".utf8))

    /// The event's id; for several events, 32 hexadecimal digits derived from their ids, independent of their order. A
    /// retried batch has the same id.
    package static func of(_ leases: [Lease]) -> String {
        guard leases.count > 1 else { return leases.first?.event ?? "" }
        let ids = leases.map(\.event).sorted().joined(separator: "\n")
        return hexadecimal(digest.authenticate(Array(ids.utf8)).prefix(16))
    }
}
