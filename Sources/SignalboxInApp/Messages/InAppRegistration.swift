/// A message as the store keeps it: its content and action are in the body, which decisions do not read.
package struct InAppRegistration: Sendable, Hashable {
    /// Messages for all devices have no address.
    package enum Address: Sendable, Hashable { case user(UserID), device(DeviceID) }

    /// As in the body.
    package var id: MessageID
    /// The message in our own JSON form.
    package var body: [UInt8]
    /// Nil for all devices.
    package var address: Address?
    /// When the last display ends; the message may be removed some time later. Nil for never.
    package var end: Instant?

    /// Takes a message in its stored form. `address`: nil for all devices. `end`: nil for no end.
    package init(id: MessageID, body: [UInt8], address: Address? = nil, end: Instant? = nil) {
        (self.id, self.body, self.address, self.end) = (id, body, address, end)
    }
}
