import Dispatch
import Foundation
import Synchronization

/// Notes ^C, for a command that stops where it may and then ends in order. A second ^C ends the process at once.
final class Interruption: Sendable {
    // A class because the signal's handler and the command share it.
    private let noted = Mutex(false)
    // Kept for as long as the signal is listened to; never changed.
    nonisolated(unsafe) private let source: any DispatchSourceSignal

    init() {
        source = DispatchSource.makeSignalSource(signal: SIGINT)
        signal(SIGINT, SIG_IGN)
        source.setEventHandler { [weak self] in
            self?.noted.withLock { $0 = true }
            signal(SIGINT, SIG_DFL)
        }
        source.resume()
    }

    deinit { source.cancel() }

    var happened: Bool { noted.withLock { $0 } }
}
