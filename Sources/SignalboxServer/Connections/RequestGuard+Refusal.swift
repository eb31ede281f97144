import NIOCore
import NIOHTTP1

/// Requests that are answered here, because no later byte of their connection can be read.
extension RequestGuard {
    /// Answers a head that the parser rejects for its framing. After any parser error, later bytes are ignored, because
    /// the end of the request is unknown.
    ///
    /// Within a head, `unknown` stands for two errors of llhttp: a Transfer-Encoding that is repeated, follows a
    /// Content-Length or has `chunked` before its end, and a field whose line ends without CR.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let framing: [HTTPParserError] = [.unexpectedContentLength, .invalidContentLength, .unknown]
        if let error = error as? HTTPParserError, framing.contains(error), !gate.window.isReceiving, !gate.window.isOver
        {
            return refuse(.framingAmbiguous, context)
        }
        gate.window.close()
        forward(context) { $0.fireErrorCaught(error) }
    }

    /// Answers a request in its turn. Its end is ambiguous, so all later bytes are ignored.
    func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        gate.window.begin(length: 0, isLast: true)
        gate.window.endRequest()
        refusal = problem
        if gate.window.unanswered == 1 { sendRefusal(context) }
        noteActivity(context)
    }

    /// Responds to a request whose head is not acceptable. The client closes the connection, or the idle timer does.
    func sendRefusal(_ context: ChannelHandlerContext) {
        guard let refusal else { return }
        self.refusal = nil
        var reply = Reply(refusal)
        reply.headers[text: "connection"] = "close"
        send(reply, context)
        context.close(mode: .output, promise: nil)
        gate.window.endResponse()
    }
}
