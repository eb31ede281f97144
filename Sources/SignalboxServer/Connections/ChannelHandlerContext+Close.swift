import NIOCore
import NIOSSL

extension ChannelHandlerContext {
    /// Closes the connection without waiting for the client: TLS does not await its `close_notify`, which a client
    /// could withhold to keep its place. Call it only when no response is unsent.
    func closeAtOnce() {
        // The close begins behind the handler of TLS, so that one does not see it.
        let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        (tls ?? self).close(promise: nil)
    }
}
