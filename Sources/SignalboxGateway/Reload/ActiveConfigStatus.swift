package import Foundation
import Synchronization

/// When the active config was loaded, and whether a newer one was rejected since.
///
/// A class because the reload writes it and HTTP requests read it.
package final class ActiveConfigStatus: Sendable {
    /// A newer config that cannot be used.
    package struct Rejection: Sendable, Equatable {
        /// When the newer config was read.
        package let at: Date
        /// One line for each problem, without secrets.
        package let problems: [String]
        /// Paths of the further files that the newer config names. A change of one is a reason to read it again.
        package let namedFiles: [String]
    }

    /// SHA-256 of the config's files, concatenated, in hexadecimal digits.
    package let digest: String
    /// When the config was read.
    package let since: Date
    private let latest = Mutex<Rejection?>(nil)

    /// There is no rejection at first.
    package init(digest: String, since: Date) { (self.digest, self.since) = (digest, since) }

    /// Nil if the newest config is the active one. A later successful reload makes a new status, so a rejection never
    /// has to be removed.
    package var rejection: Rejection? { latest.withLock { $0 } }

    /// Records that a newer config was rejected. A later rejection replaces an earlier one. Callable from any thread.
    func reject(_ rejection: Rejection) { latest.withLock { $0 = rejection } }
}
