import Foundation
import SignalboxTesting
import Synchronization

/// A TCP proxy in front of a PostgreSQL server that fails as networks do: it cuts connections around COMMIT, holds all
/// bytes, delays them, or refuses connections. One proxy for each node, so that one node is cut off alone. A class
/// because its threads share it.
package final class CuttingProxy: Sendable {
    /// A place at which a connection ends while it commits.
    package enum Cut: Sendable, CaseIterable {
        /// The server never sees the COMMIT.
        case before
        /// The server sees a part of it.
        case inRequest
        /// The server sees it, and may or may not run it before it notices that the connection is gone.
        case afterRequest
        /// The server commits; the client gets a part of the answer.
        case inAnswer
        /// The server commits; the client gets no answer.
        case beforeAnswer
    }

    /// The treatment of bytes and new connections.
    package enum Mode: Sendable {
        case forward
        /// The proxy holds bytes in both directions, like a firewall that drops packets. They pass afterwards.
        case hold
        /// Connections are closed as soon as they are made.
        case refuse
    }

    private let plan: ProxyPlan
    private let listener: Int32
    /// The port of the proxy on 127.0.0.1.
    package let port: Int

    /// Begins to forward connections to a port of this machine.
    package init(to target: Int) throws {
        let plan = ProxyPlan()
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw POSIXError(.EMFILE) }
        var address = LoopbackAddress(port: 0)
        guard address.bind(listener), listen(listener, 128) == 0, let port = LoopbackAddress.port(of: listener) else {
            close(listener)
            throw POSIXError(.EADDRINUSE)
        }
        (self.plan, self.listener, self.port) = (plan, listener, port)
        Thread {
            while true {
                let client = accept(listener, nil, nil)
                if client < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard client >= 0 else { break }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                Self.forward(client, to: target, plan)
            }
            close(listener)
        }.start()
    }

    deinit {
        plan.end()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func forward(_ client: Int32, to target: Int, _ plan: ProxyPlan) {
        guard plan.mode != .refuse else {
            close(client)
            return
        }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = LoopbackAddress(port: target)
        guard server >= 0, address.connect(server) else {
            if server >= 0 { close(server) }
            close(client)
            return
        }
        ProxiedConnection(client, server, plan).start()
    }

    // MARK: Faults

    /// The number of commits that were cut.
    package var cuts: Int { plan.cuts }

    /// The number of open connections.
    package var connections: Int { plan.connections }

    /// Cuts the next commit. `mode`: the treatment of bytes and of new connections from then on; nil changes nothing.
    package func cutNext(_ cut: Cut, then mode: Mode? = nil) {
        plan.set { state in
            state.next.append(cut)
            state.modeAfterCut = mode
        }
    }

    /// Cuts commits at random: about one in `number`, each at one of `cuts`. Nil ends that.
    package func cutOne(in number: Int?, _ cuts: [Cut] = Cut.allCases, seed: UInt64 = 0) {
        plan.set {
            $0.random = number.map { RandomCuts(generator: SeededGenerator(seed: seed), number: $0, cuts: cuts) }
        }
    }

    /// Ends all connections; new ones are forwarded.
    package func cutAll() { plan.cutAll() }

    /// Changes the treatment of bytes. ``Mode/refuse`` also ends all connections.
    package func set(_ mode: Mode) {
        plan.set { $0.mode = mode }
        if mode == .refuse { plan.cutAll() }
    }

    /// Delays each group of messages of a client, such as a statement, by this time.
    package func delay(by time: Duration) { plan.set { $0.delay = time } }
}

/// An address of the loopback interface.
private struct LoopbackAddress {
    private var address = sockaddr_in()
    private static let size = socklen_t(MemoryLayout<sockaddr_in>.size)

    init(port: Int) {
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    }

    mutating func bind(_ descriptor: Int32) -> Bool {
        withPointer { Foundation.bind(descriptor, $0, Self.size) == 0 }
    }

    mutating func connect(_ descriptor: Int32) -> Bool {
        withPointer { Foundation.connect(descriptor, $0, Self.size) == 0 }
    }

    static func port(of descriptor: Int32) -> Int? {
        var found = LoopbackAddress(port: 0)
        var size = size
        guard found.withPointer({ getsockname(descriptor, $0, &size) }) == 0 else { return nil }
        return Int(in_port_t(bigEndian: found.address.sin_port))
    }

    private mutating func withPointer<R>(_ body: (UnsafeMutablePointer<sockaddr>) -> R) -> R {
        withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
}
