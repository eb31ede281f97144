package import Foundation
import SignalboxJSON
import Synchronization

/// Since when a config is in force, and whether a newer one was refused meanwhile.
///
/// A class because whoever answers requests reads what whoever reads the config notes.
package final class ConfigStanding: Sendable {
    /// A newer config that cannot be used.
    package struct Refusal: Sendable, Equatable {
        package let at: Date
        /// What is wrong, a line each, without anything secret.
        package let problems: [String]

        package init(at: Date, problems: [String]) {
            self.at = at
            self.problems = problems
        }
    }

    /// SHA-256 of the files that it was read from, one behind the other, in hexadecimal digits.
    package let digest: String
    package let since: Date
    private let held = Mutex<Refusal?>(nil)

    package init(digest: String, since: Date) {
        self.digest = digest
        self.since = since
    }

    /// Nil while the newest config is the one in force.
    package var refusal: Refusal? { held.withLock { $0 } }

    /// Notes that a newer config was refused; this one stays in force.
    package func note(_ refusal: Refusal) { held.withLock { $0 = refusal } }
}

extension JSONWriter {
    mutating func config(_ standing: ConfigStanding) {
        beginObject()
        member("digest", standing.digest)
        time("since", standing.since)
        if let refusal = standing.refusal {
            key("refused")
            beginObject()
            time("at", refusal.at)
            key("problems")
            strings(refusal.problems)
            endObject()
        }
        endObject()
    }
}
