import SignalboxInApp
import SignalboxStore
import Synchronization

/// The reports of one node. A class because the store and the test share it.
final class MessageReports: Sendable {
    private struct State {
        var last: [MessageID: StoredInAppMessage] = [:]
        var count = 0
        var disorder: String?
    }

    private let state = Mutex(State())

    var last: [MessageID: StoredInAppMessage] { state.withLock { $0.last } }
    var count: Int { state.withLock { $0.count } }
    /// A report that is older than the previous report; nil for none.
    var disorder: String? { state.withLock { $0.disorder } }

    func add(_ messages: [StoredInAppMessage]) {
        state.withLock { state in
            for message in messages {
                let id = message.registration.id
                if let former = state.last[id], former.revision > message.revision {
                    state.disorder = "\(id): \(message.revision) after \(former.revision)"
                }
                state.last[id] = message
                state.count += 1
            }
        }
    }
}
