import Dispatch
import Foundation
import Synchronization

/// An interruption by ^C, for a command that stops cleanly at its next safe point. A second ^C ends the process at
/// once.
///
/// A class because the signal handler and the command share it. Commands poll ``happened`` or register a handler.
package final class Interruption: Sendable {
    private let state = Mutex<(happened: Bool, handlers: [@Sendable () -> Void])>((false, []))
    // Retained to keep the signal source alive; set once, in the initialiser.
    nonisolated(unsafe) private var source: (any DispatchSourceSignal)?

    /// `number`: the signal that interrupts, usually SIGINT; nil for none. Replaces the default action of the signal
    /// for the whole process. Make one value for a signal: the first ^C restores the default action for the process.
    package init(by number: Int32? = nil) {
        guard let number else { return }
        let source = DispatchSource.makeSignalSource(signal: number)
        signal(number, SIG_IGN)
        source.setEventHandler { [weak self] in
            signal(number, SIG_DFL)
            self?.happen()
        }
        source.resume()
        self.source = source
    }

    deinit { source?.cancel() }

    /// True from the first ^C on. Callable from any thread.
    package var happened: Bool { state.withLock { $0.happened } }

    /// The signal handler calls it, and tests do.
    func happen() {
        let handlers = state.withLock { state in
            state.happened = true
            return state.handlers
        }
        for handler in handlers { handler() }
    }

    /// Calls `handler` once ^C arrives, on a thread that it must not block; at once if ^C has arrived already.
    /// Several handlers may be added; they run in the order in which they were added.
    package func whenItHappens(_ handler: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            state.handlers.append(handler)
            return state.happened
        }
        if isOver { handler() }
    }
}
