import Synchronization

/// Values from the body of a request for its row of the action log.
///
/// A class because the handler sets it, and a refusal is recorded after the handler.
final class ActionDetails: Sendable {
    private let state = Mutex((parameters: [String: String](), reason: String?.none))

    /// Conditions and values by name.
    var parameters: [String: String] { state.withLock(\.parameters) }
    /// The reason of the body; nil for none.
    var reason: String? { state.withLock(\.reason) }

    /// Replaces both. Called before the handler refuses the request.
    func set(_ parameters: [String: String], reason: String?) { state.withLock { $0 = (parameters, reason) } }
}
