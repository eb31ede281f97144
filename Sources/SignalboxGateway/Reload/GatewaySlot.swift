import ServiceLifecycle
import Synchronization

/// The gateway of a process: the real one, or a stand-in while its database cannot be reached. A class because the
/// server and the services share it.
package final class GatewaySlot: Sendable {
    private struct State {
        var gateway: Gateway
        var isOpen: Bool
        var waiting: [CheckedContinuation<Gateway?, Never>] = []
        var isOver = false
    }

    private let state: Mutex<State>

    /// `isOpen`: false for a stand-in.
    package init(_ gateway: Gateway, isOpen: Bool) { state = Mutex(State(gateway: gateway, isOpen: isOpen)) }

    /// The gateway that answers requests now.
    package var gateway: Gateway { state.withLock(\.gateway) }

    /// Whether it is not a stand-in.
    package var isOpen: Bool { state.withLock(\.isOpen) }

    /// Replaces the stand-in.
    func open(_ gateway: Gateway) {
        let waiting = state.withLock { state in
            (state.gateway, state.isOpen) = (gateway, true)
            return exchange(&state.waiting, with: [])
        }
        for continuation in waiting { continuation.resume(returning: gateway) }
    }

    /// The real gateway, once it is open; nil if a graceful shutdown begins before.
    func opened() async -> Gateway? {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withCheckedContinuation { continuation in
                let result: Gateway?? = state.withLock { state in
                    if state.isOpen { return .some(state.gateway) }
                    if state.isOver { return .some(nil) }
                    state.waiting.append(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancelOrGracefulShutdown: {
            self.end()
        }
    }

    private func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            return exchange(&state.waiting, with: [])
        }
        for continuation in waiting { continuation.resume(returning: nil) }
    }
}
