import Foundation
import SignalboxStore
import Synchronization

/// Admits requests that compute over payloads, a few at a time, so that accepted payloads never wait behind them.
///
/// One processor stays free for the rest of the gateway. Further requests wait in order, for at most ``patience``.
/// Work inside the gate has its own deadline. Callable from any task.
final class ReadGate: Sendable {
    // A class because the handlers of all configs share it.
    /// How long a request waits for its turn.
    static let patience: Duration = .seconds(2)
    /// The most requests that wait at a time.
    static let places = 16

    private struct State {
        var queue: ReadQueue
        /// By ticket. Each continuation is resumed once, by its turn or by the end of its patience.
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state: Mutex<State>
    /// Wakes a request that has waited for ``patience``.
    private let delayed: DelayedCall

    /// `slots`: requests that run at a time. `delayed` ends waits; tests replace it.
    init(
        slots: Int = max(1, ProcessInfo.processInfo.activeProcessorCount - 1), places: Int = ReadGate.places,
        delayed: DelayedCall = .onQueue
    ) {
        state = Mutex(State(queue: ReadQueue(slots: slots, places: places)))
        self.delayed = delayed
    }

    /// Runs the work when its turn comes. Throws ``Problem/readsBusy`` if too many requests wait, or this one has
    /// waited too long, and the errors of the work.
    func run<Value>(_ work: () async throws -> Value) async throws -> Value {
        guard await enter() else { throw Problem.readsBusy }
        defer { leave() }
        return try await work()
    }

    /// True when the request may run; the caller must then call ``leave()``. False when it is refused or has waited too
    /// long.
    private func enter() async -> Bool {
        await withCheckedContinuation { continuation in
            let entry = state.withLock { state in
                let entry = state.queue.enter()
                if case .waits(let ticket) = entry { state.waiting[ticket] = continuation }
                return entry
            }
            switch entry {
            case .runs: continuation.resume(returning: true)
            case .refused: continuation.resume(returning: false)
            case .waits(let ticket): delayed(after: Self.patience) { [self] in giveUp(ticket) }
            }
        }
    }

    /// Hands the place to the request that waits longest, if there is one.
    private func leave() {
        let next = state.withLock { state in state.queue.leave().flatMap { state.waiting.removeValue(forKey: $0) } }
        next?.resume(returning: true)
    }

    /// Called by a timer after ``patience``. Has no effect if the turn of the request has come.
    private func giveUp(_ ticket: Int) {
        let late = state.withLock { state in
            state.queue.giveUp(ticket) ? state.waiting.removeValue(forKey: ticket) : nil
        }
        late?.resume(returning: false)
    }
}

/// Decides which requests run, wait or are refused. Pure. Each request that runs leaves once. Each one that waits
/// either runs later or gives up, never both.
struct ReadQueue: Sendable {
    /// The fate of a request that arrives.
    enum Entry: Sendable, Equatable {
        /// The request holds a slot until ``leave()``.
        case runs
        /// Until ``leave()`` returns its ticket.
        case waits(Int)
        /// All places are taken; the request is not counted.
        case refused
    }

    /// The most requests that run.
    let slots: Int
    /// The most requests that wait.
    let places: Int
    /// At most ``slots``. A request that hands its slot over leaves the number unchanged.
    private var running = 0
    /// Tickets in the order of arrival.
    private var waiting: [Int] = []
    /// Tickets are not reused, so a late timer cannot end the wait of another request.
    private var last = 0

    init(slots: Int, places: Int) {
        precondition(slots > 0 && places >= 0, "A gate admits at least one request.")
        (self.slots, self.places) = (slots, places)
    }

    /// A request that arrives. Takes a free slot, or else a place among those that wait.
    mutating func enter() -> Entry {
        if running < slots {
            running += 1
            return .runs
        }
        guard waiting.count < places else { return .refused }
        last += 1
        waiting.append(last)
        return .waits(last)
    }

    /// A request has ended. Returns the ticket of the request that runs now, the one that waits longest.
    mutating func leave() -> Int? {
        guard waiting.isEmpty else { return waiting.removeFirst() }
        running -= 1
        return nil
    }

    /// A request stops waiting; false if its turn has come.
    mutating func giveUp(_ ticket: Int) -> Bool {
        guard let position = waiting.firstIndex(of: ticket) else { return false }
        waiting.remove(at: position)
        return true
    }
}
