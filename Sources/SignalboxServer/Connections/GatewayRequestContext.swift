import Hummingbird
import NIOCore

/// Data that a handler needs in addition to the request.
struct GatewayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// For events of the connection; its handlers run on its event loop.
    let channel: any Channel

    /// Called by Hummingbird for each request of the router.
    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The network that the request comes from.
    var peer: PeerAddress { PeerAddress(channel.remoteAddress) }
}
