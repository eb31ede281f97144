import Foundation
import Testing

@testable import SignalboxServer

@Suite(.timeLimit(.minutes(15))) struct SocketOptionTests {
    /// `TCP_NODELAY` at the level of sockets is `SO_DEBUG`, which needs `CAP_NET_ADMIN`: a service without it would
    /// lose every connection.
    @Test func connectionsOfProvidersNeedNoRights() async throws {
        try await TestListener.run { listener in
            _ = try await listener.play("half_closed") { line in
                guard line["ready"] != nil else { return }
                while listener.heldCount == 0 { await Task.yield() }
                // All sockets of this process, the accepted one among them.
                for descriptor in Int32(0)..<4096 {
                    var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
                    guard getsockopt(descriptor, SOL_SOCKET, SO_DEBUG, &value, &size) == 0 else { continue }
                    #expect(value == 0, "socket \(descriptor)")
                }
                listener.release()
            }
        }
    }
}
