package import Foundation
package import SignalboxNotification

/// From whom and when payloads came.
package struct Reception: Sendable {
    package let source: SourceName
    package let receivedAt: Date
    /// Whose payloads the source hands in, where the config says so and the payloads do not.
    package let vendor: VendorID?

    package init(from source: SourceName, at receivedAt: Date, vendor: VendorID? = nil) {
        self.source = source
        self.receivedAt = receivedAt
        self.vendor = vendor
    }
}
