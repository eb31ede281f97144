import Foundation
import Logging
import ServiceLifecycle
package import SignalboxConfig
import UnixSignals

/// Requests a reload when the config's files change, and on SIGHUP.
package struct ConfigWatch: Service, CustomStringConvertible {
    private let origin: @Sendable () -> GatewayConfig.Origin
    private let reload: @Sendable () async -> Void
    private let clock: any Clock<Duration>

    private static let interval: Duration = .milliseconds(500)

    /// `origin`: the files of the active config. `reload`: reads and applies the config; called by one task at a time.
    package init(
        origin: @escaping @Sendable () -> GatewayConfig.Origin, clock: any Clock<Duration> = ContinuousClock(),
        reload: @escaping @Sendable () async -> Void
    ) {
        self.origin = origin
        self.clock = clock
        self.reload = reload
    }

    // Logs name services by their description; the default one would print every stored value.
    package var description: String { "ConfigWatch" }

    /// Runs until a graceful shutdown.
    package func run() async throws {
        let hasTerminal = isatty(STDIN_FILENO) == 1
        let wakeUp = WakeUp()
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) {
                        // A closed terminal ends the gateway instead of reloading the config.
                        guard !hasTerminal || isatty(STDIN_FILENO) == 1 else { kill(getpid(), SIGTERM); return }
                        wakeUp.wake()
                    }
                }
                group.addTask { await poll(wakeUp) }
                group.addTask {
                    while await wakeUp.wait() { await reload() }
                }
            }
        }
    }

    private func poll(_ wakeUp: WakeUp) async {
        var changes = ConfigChanges(FileStamps(of: origin()))
        while !Task.isCancelled {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            if changes.settled(FileStamps(of: origin())) { wakeUp.wake() }
        }
    }
}

/// Decides when changed files are complete: after they stay the same between two polls, because an editor may write a
/// file in pieces. Pure.
package struct ConfigChanges<Stamps: Equatable> {
    private var loaded: Stamps
    private var last: Stamps

    /// `loaded`: the files as the active config was read from them.
    package init(_ loaded: Stamps) {
        self.loaded = loaded
        last = loaded
    }

    /// Records a poll; true, once for each change, if the files differ from the loaded ones and are complete.
    package mutating func settled(_ now: Stamps) -> Bool {
        defer { last = now }
        guard now != loaded, now == last else { return false }
        loaded = now
        return true
    }
}

/// Inodes, sizes and times of a config's files, to detect changes without reading them.
struct FileStamps: Equatable {
    private let stamps: [String: [Int]]

    init(of origin: GatewayConfig.Origin) {
        var names = Set(origin.files)
        if let folder = origin.folder {
            let added = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            names.formUnion(added.map { folder + "/" + $0 })
        }
        var stamps: [String: [Int]] = [:]
        for name in names {
            var status = stat()
            guard stat(name, &status) == 0 else { continue }
            stamps[name] = [
                Int(truncatingIfNeeded: status.st_ino), Int(status.st_size), status.st_mtim.tv_sec,
                status.st_mtim.tv_nsec,
            ]
        }
        self.stamps = stamps
    }
}
