import Hummingbird
import NIOCore
import SignalboxGateway

/// Data that a handler needs in addition to the request.
struct GatewayRequestContext: RequestContext {
    /// Hummingbird's values of the request: its id, its logger, and the parameters of the path.
    var coreContext: CoreRequestContextStorage
    /// For events of the connection; its handlers run on its event loop.
    let channel: any Channel
    /// The trace of the request, which ``RequestTiming`` sets; nil for a request without one.
    var trace: RequestTrace?

    /// Called by Hummingbird for each request of the router.
    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The network that the request comes from.
    var peer: PeerAddress { PeerAddress(channel.remoteAddress) }
}
