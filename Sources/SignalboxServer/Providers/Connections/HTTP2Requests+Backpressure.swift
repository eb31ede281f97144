import NIOCore

extension HTTP2Requests {
    /// A client that does not read its responses is not read from, so that responses do not pile up.
    func read(context: ChannelHandlerContext) {
        if context.channel.isWritable { context.read() } else { isReadHeld = true }
    }

    /// Starts and ends the time that the client has to read; see ``ProviderLimits/readTime``.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            unwritable = nil
            if isReadHeld {
                isReadHeld = false
                context.read()
            }
        } else {
            unwritable = unwritable ?? now
            startChecks()
        }
        context.fireChannelWritabilityChanged()
    }
}
