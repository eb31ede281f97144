import Foundation
import SignalboxTesting
import Synchronization

/// Cuts at random.
struct RandomCuts {
    var generator: SeededGenerator
    /// One commit in this number is cut.
    let number: Int
    let cuts: [CuttingProxy.Cut]

    mutating func next() -> CuttingProxy.Cut? {
        Int.random(in: 0..<number, using: &generator) == 0 ? cuts.randomElement(using: &generator) : nil
    }
}

/// The faults of a ``CuttingProxy`` and its connections. A class because its threads share it. Unchecked: all state is
/// used under the lock of `changed`, on which threads wait while bytes are held.
final class ProxyPlan: @unchecked Sendable {
    struct State {
        var mode = CuttingProxy.Mode.forward
        var delay = Duration.zero
        var next: [CuttingProxy.Cut] = []
        /// The mode from the next cut of `next` on; nil for the present one.
        var modeAfterCut: CuttingProxy.Mode?
        var random: RandomCuts?
        var cuts = 0
        var hasEnded = false
        var connections: [ObjectIdentifier: ProxiedConnection] = [:]
    }

    private let changed = NSCondition()
    private var state = State()

    var mode: CuttingProxy.Mode { read(\.mode) }
    var cuts: Int { read(\.cuts) }
    var connections: Int { read(\.connections.count) }

    private func read<T>(_ path: KeyPath<State, T>) -> T {
        changed.withLock { state[keyPath: path] }
    }

    func set(_ change: (inout State) -> Void) {
        changed.withLock {
            change(&state)
            changed.broadcast()
        }
    }

    func add(_ connection: ProxiedConnection) { set { $0.connections[ObjectIdentifier(connection)] = connection } }
    func remove(_ connection: ProxiedConnection) { set { $0.connections[ObjectIdentifier(connection)] = nil } }

    func cutAll() {
        for connection in read(\.connections).values { connection.cut() }
        set { _ in }
    }

    func end() {
        set { $0.hasEnded = true }
        cutAll()
    }

    /// The cut of a commit that is about to pass; nil for none.
    func nextCut() -> CuttingProxy.Cut? {
        changed.withLock {
            var cut: CuttingProxy.Cut?
            if !state.next.isEmpty {
                cut = state.next.removeFirst()
                state.mode = state.modeAfterCut ?? state.mode
                state.modeAfterCut = nil
            } else {
                cut = state.random?.next()
            }
            if cut != nil { state.cuts += 1 }
            return cut
        }
    }

    /// Blocks while bytes are held, then for the delay if `isDelayed`. False when the connection has been cut.
    func pass(_ connection: ProxiedConnection, isDelayed: Bool) -> Bool {
        changed.withLock {
            if isDelayed, state.delay > .zero {
                let end = Date(timeIntervalSinceNow: state.delay / .seconds(1))
                while !state.hasEnded, !connection.isCut, changed.wait(until: end) {}
            }
            while state.mode == .hold, !state.hasEnded, !connection.isCut { changed.wait() }
            return !state.hasEnded && !connection.isCut
        }
    }
}

/// One client of a ``CuttingProxy`` and its connection to the server. A class because two threads share it, one for
/// each direction.
final class ProxiedConnection: Sendable {
    private let client: Int32
    private let server: Int32
    private let plan: ProxyPlan
    private let wasCut = Atomic<Bool>(false)
    private let ended = Atomic<Int>(0)
    /// The cut for the server's next confirmation of a commit.
    private let answerCut = Mutex<CuttingProxy.Cut?>(nil)

    init(_ client: Int32, _ server: Int32, _ plan: ProxyPlan) {
        (self.client, self.server, self.plan) = (client, server, plan)
        var on: Int32 = 1
        for end in [client, server] {
            setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    var isCut: Bool { wasCut.load(ordering: .acquiring) }

    func start() {
        plan.add(self)
        Thread { self.run(self.toServer) }.start()
        Thread { self.run(self.toClient) }.start()
    }

    /// Ends both sides. Bytes that were sent before still arrive.
    func cut() {
        wasCut.store(true, ordering: .releasing)
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }

    private func run(_ direction: () -> Void) {
        direction()
        cut()
        plan.remove(self)
        // The other thread may still use the descriptors.
        guard ended.add(1, ordering: .acquiringAndReleasing).newValue == 2 else { return }
        close(client)
        close(server)
    }

    // MARK: Directions

    private func toServer() {
        var messages = PostgresMessages(.toServer)
        var cutsAtEnd = false
        while let bytes = receive(client) {
            var group: [UInt8] = []
            for message in messages.append(bytes) {
                if message.kind == .commit, let cut = plan.nextCut() {
                    switch cut {
                    case .before:
                        send(group, to: server)
                        return
                    case .inRequest:
                        send(group + message.bytes.prefix(message.bytes.count / 2), to: server)
                        return
                    case .afterRequest: cutsAtEnd = true
                    case .inAnswer, .beforeAnswer: answerCut.withLock { $0 = cut }
                    }
                }
                group += message.bytes
                if message.kind == .end, cutsAtEnd {
                    send(group, to: server)
                    return
                }
            }
            guard group.isEmpty || plan.pass(self, isDelayed: true) && send(group, to: server) else { return }
        }
    }

    private func toClient() {
        var messages = PostgresMessages(.toClient)
        while let bytes = receive(server) {
            var group: [UInt8] = []
            for message in messages.append(bytes) {
                if message.kind == .committed, let cut = answerCut.withLock({ $0.take() }) {
                    if cut == .inAnswer { send(group + message.bytes.prefix(3), to: client) }
                    return
                }
                group += message.bytes
            }
            guard group.isEmpty || plan.pass(self, isDelayed: false) && send(group, to: client) else { return }
        }
    }

    /// The next bytes; nil at the end.
    private func receive(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { return Array(buffer.prefix(count)) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// False when the receiver is gone.
    @discardableResult
    private func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
