import HTTPTypes
import NIOCore
import SignalboxModel
import SignalboxPipeline
import SignalboxStore

/// Accepts requests that bring one small payload where they arrive: for one that is read in microseconds, a task of its own
/// costs as much again as all the rest. A payload that is to be refused, and every other request, is for
/// ``GatewayHandlers``.
struct DirectIntake: Sendable {
    let surface: GatewaySurface
    let alarm: QueueAlarm
    let budget: BodyBudget

    /// Bytes of the largest body: four times what push services take. Whatever comes meanwhile waits until it is read.
    static let bodyLimit = 16 * 1024

    /// Whether a request with this head may be one of them.
    func mayTake(_ head: HTTPRequest) -> Bool {
        surface.intake.readsAtOnce && Self.isPlain(head) && source(of: head) != nil
    }

    /// Whether nothing in a request's head needs more than the plain way.
    static func isPlain(_ head: HTTPRequest) -> Bool {
        guard head.method == .post, Address(head.path) != nil else { return false }
        return head.headerFields.allSatisfy { field in
            switch field.name.canonicalName {
            case "connection": field.value.lowercased() == "keep-alive"
            case "content-length": Int(field.value).map { $0 <= bodyLimit } ?? false
            case "content-encoding", "expect", "idempotency-key", "upgrade": false
            default: true
            }
        }
    }

    /// Nil, and nothing was done, for a request that is for others after all.
    func respond(to request: DirectRequest, on eventLoop: any EventLoop) -> EventLoopFuture<DirectAnswer>? {
        let bytes = request.body.readableBytes
        guard let source = source(of: request.head), budget.take(bytes) else { return nil }
        let read = request.body.withUnsafeReadableBytes { body in
            surface.intake.readOne(body.assumingMemoryBound(to: UInt8.self), from: source)
        }
        guard let read else {
            budget.giveBack(bytes)
            return nil
        }
        let end = eventLoop.makePromise(of: Result<Intake.Report, StoreError>.self)
        surface.intake.accept(read) { end.succeed($0) }
        return end.futureResult.map { [alarm, budget] result in
            budget.giveBack(bytes)
            switch result {
            case .success(let report):
                alarm.silence()
                return DirectAnswer(ReceiptReply(report).answer)
            case .failure(let reason): return DirectAnswer(alarm.problem(of: .store(reason)))
            }
        }
    }

    /// Returns when all that was taken has ended.
    func finish() async { await surface.intake.finish() }

    /// The source that a request speaks for; nil where it may not.
    private func source(of head: HTTPRequest) -> SourceName? {
        guard !surface.access.isOpen || head.isFromThisMachine, let address = Address(head.path) else { return nil }
        return try? surface.access.source(named: address.source, authorization: head.headerFields[.authorization])
    }

    /// Where payloads are handed in, spelled as everybody spells it.
    private struct Address {
        /// The one that it names.
        let source: String?

        init?(_ path: String?) {
            guard let path else { return nil }
            guard path != "/v1/notifications" else {
                source = nil
                return
            }
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "sources",
                parts[4] == "notifications", NameRule.allows(String(parts[3]))
            else { return nil }
            source = String(parts[3])
        }
    }
}
