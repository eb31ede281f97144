package import Foundation
package import SignalboxModel

/// From whom and when payloads came.
package struct Reception: Sendable {
    package let source: SourceName
    package let receivedAt: Date

    package init(from source: SourceName, at receivedAt: Date) {
        self.source = source
        self.receivedAt = receivedAt
    }
}
