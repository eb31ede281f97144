import SignalboxEgress
package import SignalboxStore

/// The `webhook-id` of a message, by which a receiver tells a repeat.
package enum MessageID {
    // A digest under a key that says what it is for; nothing about it is secret.
    private static let digest = MessageAuthentication(key: Array("signalbox: id of a batch".utf8))

    /// The event's id, or for several events 32 hexadecimal digits that follow from their ids alone, whatever their order:
    /// a batch that is sent again has the id that it had.
    package static func of(_ leases: [Lease]) -> String {
        guard leases.count > 1 else { return leases.first?.event ?? "" }
        let ids = leases.map(\.event).sorted().joined(separator: "\n")
        return hexadecimal(digest.authenticate(Array(ids.utf8)).prefix(16))
    }
}
