package import Foundation
package import SignalboxConfig
import SignalboxEgress
import Synchronization

/// The last configs that the gateway read, with the result and the difference to the active one.
///
/// A class because the reload writes it and HTTP requests read it. In memory only: it begins with the process.
package final class ConfigHistory: Sendable {
    /// One config that was read.
    package struct Entry: Sendable, Equatable {
        /// SHA-256 of its files; empty if they could not be read.
        package let digest: String
        /// When it was read.
        package let at: Date
        /// One line for each problem, without text of the config; empty unless it was refused.
        package let problems: [String]
        /// Whether the gateway refused it.
        package let isRefused: Bool
        /// The difference to the config that was active; nil for the first one, and when its files are not known.
        package let diff: ConfigDiff?
    }

    fileprivate struct State {
        /// The newest first.
        var entries: [Entry] = []
        /// The digest and the files of the active config.
        var active: (digest: String, files: [ConfigText])?
    }

    /// The most entries.
    package static let most = 20

    private let state = Mutex(State())

    /// Empty.
    package init() {}

    /// The newest first.
    package var entries: [Entry] { state.withLock(\.entries) }
    /// The digest of the active config.
    package var activeDigest: String? { state.withLock { $0.active?.digest } }

    /// Records the config that is in effect now. A config equal to the active one leaves no entry. One caller at a
    /// time.
    func activate(_ digest: String, _ files: [ConfigText], at now: Date) {
        let former = state.withLock(\.active)
        guard former?.digest != digest else { return }
        // Outside the lock: files may be large.
        let diff = former.map { ConfigDiff(from: $0.files, to: files) }
        let entry = Entry(digest: digest, at: now, problems: [], isRefused: false, diff: diff)
        state.withLock { state in
            state.active = (digest, files)
            state.add(entry)
        }
    }

    /// Records a config that was refused. `files`: empty if they could not be read.
    func refuse(_ files: [ConfigText], problems: [String], at now: Date) {
        let diff = files.isEmpty ? nil : state.withLock(\.active).map { ConfigDiff(from: $0.files, to: files) }
        let digest = files.isEmpty ? "" : hexadecimal(sha256(files.flatMap(\.bytes)))
        let entry = Entry(digest: digest, at: now, problems: problems, isRefused: true, diff: diff)
        state.withLock { $0.add(entry) }
    }
}

extension ConfigHistory.State {
    fileprivate mutating func add(_ entry: ConfigHistory.Entry) {
        entries.insert(entry, at: 0)
        if entries.count > ConfigHistory.most { entries.removeLast() }
    }
}
