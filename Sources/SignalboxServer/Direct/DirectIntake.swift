import HTTPTypes
import NIOCore
import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Accepts requests that bring one small payload where they arrive: a task of its own costs such a request twice what the
/// reading of its payload does. A payload that is to be refused, and every other request, is for ``GatewayHandlers``.
struct DirectIntake: Sendable {
    /// Of the config that it is of, counted.
    let number: Int
    let surface: GatewaySurface
    let alarm: QueueAlarm
    let budget: BodyBudget

    /// Bytes of the largest body: four times what push services take. Whatever comes meanwhile waits until it is read.
    static let bodyLimit = 16 * 1024

    /// For whom a request speaks, if its head says nothing against taking it; nil otherwise, and where it may not speak for
    /// anybody.
    func sender(of head: HTTPRequest) -> DirectSender? {
        guard surface.intake.readsAtOnce, let address = Address(head.path), Self.isPlain(head),
            !surface.access.isOpen || head.isFromThisMachine
        else { return nil }
        let source = try? surface.access.source(
            named: address.source, authorization: head.headerFields[.authorization])
        return source.map { DirectSender(source: $0, config: number) }
    }

    /// Whether nothing but its address could be against taking a request with this head.
    static func isPlain(_ head: HTTPRequest) -> Bool {
        guard head.method == .post else { return false }
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
        // A request that another config let in meets that which is in force now, by the longer way.
        guard request.sender.config == number, budget.take(bytes) else { return nil }
        let read = request.body.withUnsafeReadableBytes { body in
            surface.intake.readOne(body.assumingMemoryBound(to: UInt8.self), from: request.sender.source)
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

    /// Where payloads are handed in, spelled as everybody spells it.
    struct Address {
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
