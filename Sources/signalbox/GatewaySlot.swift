import Foundation
import Logging
import ServiceLifecycle
import SignalboxGateway
import SignalboxStore
import Synchronization

/// The gateway of a process: the real one, or a stand-in while its database cannot be reached. A class because the
/// server and the services share it.
final class GatewaySlot: Sendable {
    private struct State {
        var gateway: Gateway
        var isOpen: Bool
        var waiting: [CheckedContinuation<Gateway?, Never>] = []
        var isOver = false
    }

    private let state: Mutex<State>

    /// `isOpen`: false for a stand-in.
    init(_ gateway: Gateway, isOpen: Bool) { state = Mutex(State(gateway: gateway, isOpen: isOpen)) }

    /// The gateway that answers requests now.
    var gateway: Gateway { state.withLock(\.gateway) }

    /// Whether it is not a stand-in.
    var isOpen: Bool { state.withLock(\.isOpen) }

    /// Replaces the stand-in.
    func open(_ gateway: Gateway) {
        let waiting = state.withLock { state in
            (state.gateway, state.isOpen) = (gateway, true)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: gateway) }
    }

    /// The real gateway, once it is open; nil if a graceful shutdown begins before.
    func opened() async -> Gateway? {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withCheckedContinuation { continuation in
                let result: Gateway?? = state.withLock { state in
                    if state.isOpen { return .some(state.gateway) }
                    if state.isOver { return .some(nil) }
                    state.waiting.append(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancelOrGracefulShutdown: {
            self.end()
        }
    }

    private func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: nil) }
    }
}

/// A service of a gateway, which begins when the gateway is open.
struct WhenOpen: Service, CustomStringConvertible {
    let slot: GatewaySlot
    let description: String
    let make: @Sendable (Gateway) -> any Service

    init(_ slot: GatewaySlot, _ description: String, _ make: @escaping @Sendable (Gateway) -> any Service) {
        (self.slot, self.description, self.make) = (slot, description, make)
    }

    func run() async throws {
        guard let gateway = await slot.opened() else {
            // Services end in their order: one that ends before its turn counts as failed.
            do { try await gracefulShutdown() } catch { return }
            return
        }
        try await make(gateway).run()
    }
}

/// Opens the store as soon as its database can be reached. Then waits for the shutdown, because a service that ends
/// earlier would end its group.
struct StoreOpening: Service, CustomStringConvertible {
    let description = "StoreOpening"
    /// How long it waits between two attempts.
    private static let pause: Duration = .seconds(1)

    let logger: Logger
    let slot: GatewaySlot
    /// Blocks. Throws while the store cannot be opened.
    let open: @Sendable () throws -> Gateway
    /// Prepares the gateway, and makes the server use it.
    let activate: @Sendable (Gateway) async throws -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var refusal: StoreError?
            // Used again after a failure of `activate`. A further store would open further sessions, and a server that
            // waits for a standby does not end the former ones.
            var found: Gateway?
            while !Task.isCancelled, !slot.isOpen {
                do {
                    let gateway = if let found { found } else { try await opened() }
                    found = gateway
                    try await activate(gateway)
                    return slot.open(gateway)
                } catch StoreError.unreachable {
                    // The connection has logged it.
                    refusal = nil
                } catch let error as StoreError {
                    if refusal != error { logger.error("Store cannot be opened.", metadata: ["error": "\(error)"]) }
                    refusal = error
                } catch {
                    logger.error("Store cannot be opened.", metadata: ["error": "\(error)"])
                }
                // Only an attempt shows whether a database can be reached.
                do { try await Task.sleep(for: Self.pause) } catch { return }
            }
        }
        // A service that ends before the shutdown would end the group.
        try await gracefulShutdown()
    }

    /// Off Swift's threads: connecting blocks.
    private func opened() async throws -> Gateway {
        try await withCheckedThrowingContinuation { done in
            DispatchQueue.global().async { done.resume(with: Result { try open() }) }
        }
    }
}
