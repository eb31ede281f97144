package import Foundation
package import SignalboxModel

/// From whom and when payloads came, in the form in which every event of theirs says it.
package struct Reception: Sendable {
    package let source: SourceName
    package let receivedAt: Date
    /// RFC 3339.
    let time: String

    package init(from source: SourceName, at receivedAt: Date) {
        self.source = source
        self.receivedAt = receivedAt
        time = Timestamp(receivedAt).text
    }
}
