import NIOCore
import Synchronization

/// The environment of every connection to the provider endpoints.
struct ProviderServing: Sendable {
    /// The endpoints of the active config, read for each request.
    let endpoints: @Sendable () -> ProviderEndpoints
    /// Bounds the memory of all bodies, together with those of the API.
    let budget: BodyBudget
    let limits: ProviderLimits
    /// Counts the connections that are refused.
    var refusals = Tally<RefusedConnection>()
    /// Logs failed TLS handshakes; nil logs none.
    var handshakes: FailedHandshakes?
    /// All connections of the listener.
    let table: ConnectionTable
    /// The most connections, when none of them is idle and so none can be replaced.
    let mostConnections: Int

    /// The decision on the head of a request.
    func verdict(on request: ProviderRequest) -> ProviderVerdict {
        let endpoints = endpoints()
        return endpoints.verdict(on: request) ?? .reply(endpoints.notFound)
    }
}

/// Ends a connection as soon as its requests are answered. An outbound event of its channel.
struct StopConnection: Sendable {}

/// Answers that other threads hand to a connection. They are sent together, because the commit of a group answers many
/// requests at once.
final class ReplyQueue<ID: Sendable>: Sendable {
    // A class because the answering threads and the event loop share it.
    private let replies = Mutex<[(id: ID, reply: ProviderReply)]>([])

    /// Returns true when the caller must make the connection call ``takeAll()``.
    func append(_ reply: ProviderReply, for id: ID) -> Bool {
        replies.withLock { replies in
            replies.append((id, reply))
            return replies.count == 1
        }
    }

    /// The answers since the last call, in their order.
    func takeAll() -> [(id: ID, reply: ProviderReply)] {
        replies.withLock { replies in
            defer { replies = [] }
            return replies
        }
    }
}
