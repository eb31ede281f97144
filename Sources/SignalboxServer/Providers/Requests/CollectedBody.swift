import NIOCore
import Synchronization

/// The body of one request as it arrives, within the memory for bodies.
struct CollectedBody {
    let reading: ProviderBody
    private let memory: BodyMemory
    /// A hint for the capacity; 0 if the length is unknown.
    private let length: Int
    private var bytes: [UInt8] = []

    /// `length`: the declared length, at most the limit of `reading`; nil if unknown.
    init(_ reading: ProviderBody, length: Int?, budget: BodyBudget, peer: PeerAddress) {
        self.reading = reading
        memory = BodyMemory(budget, BodyHolder(source: reading.source, peer: peer))
        self.length = length ?? 0
    }

    /// Returns the reply that ends the request when the piece exceeds the limit or the memory; nil when it is stored.
    mutating func append(_ piece: ByteBuffer) -> ProviderReply? {
        guard bytes.count + piece.readableBytes <= reading.limit else { return reading.refuse(.tooLarge) }
        guard memory.grow(by: piece.readableBytes) else { return reading.refuse(.busy) }
        // At the first piece, because a declared length costs its client nothing. Beyond the usual, it is not trusted.
        if bytes.isEmpty { bytes.reserveCapacity(min(length, 16 * 1024)) }
        bytes.append(contentsOf: piece.readableBytesView)
        return nil
    }

    /// Hands the body to its endpoint, on the event loop of the connection. Memory and permit are released when the
    /// endpoint has answered, even if the connection closed before.
    consuming func handle(_ reply: @escaping @Sendable (ProviderReply) -> Void) {
        let (memory, permit) = (memory, reading.permit)
        reading.handle(bytes) { answer in withExtendedLifetime((memory, permit)) { reply(answer) } }
    }
}

/// The memory of one body. Released with its last reference.
private final class BodyMemory: Sendable {
    // A class because its deinit releases the memory, wherever the request ends.
    private let budget: BodyBudget
    private let holder: BodyHolder
    private let bytes = Atomic(0)

    init(_ budget: BodyBudget, _ holder: BodyHolder) { (self.budget, self.holder) = (budget, holder) }

    deinit { budget.release(bytes.load(ordering: .relaxed), of: holder) }

    /// Returns false when the memory is not available.
    func grow(by count: Int) -> Bool {
        guard budget.reserve(count, for: holder) else { return false }
        bytes.add(count, ordering: .relaxed)
        return true
    }
}
