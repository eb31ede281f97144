import Foundation

/// The reason why a file cannot be read.
package struct UnreadableFile: Error, Sendable, Equatable {
    /// A clause without a full stop: of the system, or about the kind of the file.
    package let reason: String
    /// True if there is no file of this name, or a link leads to a missing file.
    package let isMissing: Bool

    /// `number`: the error number of the system.
    package init(_ number: Int32) {
        reason = String(cString: strerror(number))
        isMissing = number == ENOENT
    }

    /// Of a file that exists.
    init(because reason: String) {
        self.reason = reason
        isMissing = false
    }
}
