import Hummingbird
import NIOCore

/// Data that a handler needs in addition to the request.
struct GatewayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The network that the request comes from.
    var peer: PeerAddress { PeerAddress(channel.remoteAddress) }
}
