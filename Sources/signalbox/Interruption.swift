import Dispatch
import Foundation
import Synchronization

/// Notes ^C, for a command that stops where it may and then ends in order. A second ^C ends the process at once.
final class Interruption: Sendable {
    // A class because the signal's handler and the command share it.
    private let noted = Mutex<(happened: Bool, handlers: [@Sendable () -> Void])>((false, []))
    // Kept for as long as the signal is listened to; never changed.
    nonisolated(unsafe) private let source: any DispatchSourceSignal

    init() {
        source = DispatchSource.makeSignalSource(signal: SIGINT)
        signal(SIGINT, SIG_IGN)
        source.setEventHandler { [weak self] in
            signal(SIGINT, SIG_DFL)
            let handlers = self?.noted.withLock { noted in
                noted.happened = true
                return noted.handlers
            }
            for handler in handlers ?? [] { handler() }
        }
        source.resume()
    }

    deinit { source.cancel() }

    var happened: Bool { noted.withLock { $0.happened } }

    /// Calls `handler` when it happens, on a thread that must not be kept; at once when it has.
    func whenItHappens(_ handler: @escaping @Sendable () -> Void) {
        let isOver = noted.withLock { noted in
            noted.handlers.append(handler)
            return noted.happened
        }
        if isOver { handler() }
    }
}
