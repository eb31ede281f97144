/// A device token or push address that a vendor puts into its own data in clear text.
package struct DeviceToken: Sendable, Equatable {
    /// The key of the value that holds it.
    package let key: [UInt8]
    package let text: [UInt8]

    package init(key: [UInt8], text: [UInt8]) {
        self.key = key
        self.text = text
    }
}
