import Hummingbird
import NIOCore

/// What a handler knows of a request besides the request itself.
struct GatewayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Where the request comes from.
    var peer: PeerAddress { PeerAddress(channel.remoteAddress) }
}
