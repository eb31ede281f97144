import Foundation
import Logging
import ServiceLifecycle
import SignalboxConfig
import SignalboxNotification
import UnixSignals

/// Has the config read again when its files change, and on SIGHUP.
struct ConfigWatch: Service {
    /// Where the config in force came from.
    let origin: @Sendable () -> GatewayConfig.Origin
    /// Reads the config and goes by it, or says why not.
    let reload: @Sendable () async -> Void
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    private static let interval: Duration = .milliseconds(500)

    /// Runs until a graceful shutdown.
    func run() async throws {
        let hasTerminal = isatty(STDIN_FILENO) == 1
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                // One of both at a time reads the config.
                let (wishes, wish) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) {
                        // Whoever closes a terminal wants no other config.
                        guard !hasTerminal || isatty(STDIN_FILENO) == 1 else { kill(getpid(), SIGTERM); return }
                        wish.yield()
                    }
                }
                group.addTask { await look(wish) }
                group.addTask {
                    for await _ in wishes { await reload() }
                }
            }
        }
    }

    /// Wishes for a reload once the files have changed and stay as they are for a moment: who writes a file may do so in
    /// pieces.
    private func look(_ wish: AsyncStream<Void>.Continuation) async {
        var known = ConfigTraces(of: origin())
        var last = known
        while !Task.isCancelled {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            let now = ConfigTraces(of: origin())
            if now != known, now == last {
                known = now
                wish.yield()
            }
            last = now
        }
    }
}

/// By which it is seen that files have changed: names, sizes, times and where on disk they are.
private struct ConfigTraces: Equatable {
    private let traces: [String: [[UInt8]]]

    init(of origin: GatewayConfig.Origin) {
        var names = Set(origin.files)
        if let folder = origin.folder {
            let added = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            names.formUnion(added.map { folder + "/" + $0 })
        }
        var traces: [String: [[UInt8]]] = [:]
        for name in names {
            var status = stat()
            guard stat(name, &status) == 0 else { continue }
            traces[name] = [
                withUnsafeBytes(of: status.st_ino) { Array($0) }, withUnsafeBytes(of: status.st_size) { Array($0) },
                withUnsafeBytes(of: status.st_mtim) { Array($0) },
            ]
        }
        self.traces = traces
    }
}

// Services are named in logs; without this, everything that they hold would be.
extension ConfigWatch: CustomStringConvertible {
    var description: String { "ConfigWatch" }
}
