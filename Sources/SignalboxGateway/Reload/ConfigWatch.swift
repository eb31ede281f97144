import Foundation
import ServiceLifecycle
package import SignalboxConfig
import SignalboxNotification
import Synchronization
import UnixSignals

/// Requests a reload when the config's files change, and on SIGHUP. It polls the stamps of the files; the reload
/// reads them.
package struct ConfigWatch: NamedService {
    private let loaded: FileStamps
    private let origin: @Sendable () -> GatewayConfig.Origin
    private let reload: @Sendable () async -> Void
    private let clock: any Clock<Duration>

    /// Time between two polls.
    private static let interval: Duration = .milliseconds(500)

    /// `loaded`: the stamps of the first config, taken when it was read, so that no later change is missed. `origin`:
    /// the files of the newest config, even if it was rejected. `reload`: reads and applies the config; called by one
    /// task at a time. Reads no file before ``run()``.
    package init(
        loaded: FileStamps, origin: @escaping @Sendable () -> GatewayConfig.Origin,
        clock: any Clock<Duration> = ContinuousClock(), reload: @escaping @Sendable () async -> Void
    ) { (self.loaded, self.origin, self.clock, self.reload) = (loaded, origin, clock, reload) }

    /// Runs until a graceful shutdown. Starts no reload after that.
    package func run() async throws {
        let hasTerminal = isatty(STDIN_FILENO) == 1
        let wakeUp = WakeUp()
        let read = ReadFiles()
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) {
                        // A closed terminal ends the gateway instead of reloading the config.
                        guard !hasTerminal || isatty(STDIN_FILENO) == 1 else { kill(getpid(), SIGTERM); return }
                        wakeUp.wake()
                    }
                }
                group.addTask { await poll(wakeUp, read) }
                group.addTask {
                    while await wakeUp.wait() {
                        // Before the files are read: a change during the reload is a change for the poll.
                        read.record(FileStamps(of: origin()))
                        await reload()
                    }
                }
            }
        }
    }

    /// Compares stamps twice a second; a change must be stable for one interval before it causes a reload. A change
    /// that a reload on SIGHUP has read causes no other one.
    private func poll(_ wakeUp: WakeUp, _ read: ReadFiles) async {
        var changes = ConfigChanges(loaded)
        var watched = origin()
        while !Task.isCancelled {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            if let stamps = read.take() { changes.rebase(stamps) }
            let newest = origin()
            let stamps = FileStamps(of: newest)
            if newest != watched {
                changes.rebase(stamps.keeping(changes.loaded))
                watched = newest
            }
            if changes.settled(stamps) { wakeUp.wake() }
        }
    }
}

/// The stamps of the files that the newest reload read. A class because the reload and the poll share it.
private final class ReadFiles: Sendable {
    private let stamps = Mutex<FileStamps?>(nil)

    func record(_ newest: FileStamps) { stamps.withLock { $0 = newest } }

    /// Nil if no reload began since the last call.
    func take() -> FileStamps? { stamps.withLock { $0.take() } }
}

/// Decides when changed files are complete: after they stay the same between two polls, because an editor may write a
/// file in pieces. Pure. A change back to the loaded files causes no reload.
package struct ConfigChanges<Stamps: Equatable> {
    /// The stamps of the files that were loaded last.
    package private(set) var loaded: Stamps
    /// The stamps of the last poll.
    private var last: Stamps

    /// `loaded`: the files as the active config was read from them. No change is pending.
    package init(_ loaded: Stamps) {
        self.loaded = loaded
        last = loaded
    }

    /// Replaces the stamps of the loaded files, because the config now has other files, or a reload has read them.
    package mutating func rebase(_ loaded: Stamps) { self.loaded = loaded }

    /// Records a poll; true, once for each change, if the files differ from the loaded ones and are complete. Call it
    /// with the stamps of every poll, in order.
    package mutating func settled(_ now: Stamps) -> Bool {
        defer { last = now }
        guard now != loaded, now == last else { return false }
        loaded = now
        return true
    }
}

/// Inodes, sizes and times of a config's files, to detect changes without reading them. Two stamps are equal if no
/// file was added, removed, replaced or written.
package struct FileStamps: Equatable, Sendable {
    /// By path. Empty for a missing file.
    private var stamps: ExactTextMap<[Int]>
    private let folder: String?

    /// Reads the status of each file of the config and of its folder, not the contents.
    package init(of origin: GatewayConfig.Origin) {
        var names = ExactTextSet(origin.files)
        if let folder = origin.folder {
            let added = try? FileManager.default.contentsOfDirectory(atPath: folder)
            names.formUnion((added ?? []).map { folder + "/" + $0 })
            // A file in place of the folder: the config is rejected until it is removed.
            if added == nil, folder.lookupError == nil { names.insert(folder) }
        }
        var stamps = ExactTextMap<[Int]>()
        for name in names {
            var status = stat()
            stamps[name] = []
            guard stat(name, &status) == 0 else { continue }
            stamps[name] = [
                Int(truncatingIfNeeded: status.st_ino), Int(status.st_size), status.modified.seconds,
                status.modified.nanoseconds,
            ]
        }
        self.stamps = stamps
        folder = origin.folder
    }

    /// These stamps, with the former ones of the files and the folder that were watched before: a change since then is
    /// still a change, and so is a file that came into the folder. Files that are only watched now count as read.
    package func keeping(_ former: FileStamps) -> FileStamps {
        var kept = self
        for (name, stamp) in former.stamps.inOrder() where stamps[name] != nil || isInFolder(name) {
            kept.stamps[name] = stamp
        }
        guard folder == former.folder else { return kept }
        for (name, _) in stamps.inOrder() where isInFolder(name) && former.stamps[name] == nil {
            kept.stamps[name] = nil
        }
        return kept
    }

    private func isInFolder(_ name: String) -> Bool { folder.map { name.hasPrefix($0 + "/") } ?? false }
}
