import SignalboxJSON
import Synchronization

/// Keeps a writer whose memory is used again by whoever writes one event at a time.
final class SpareWriter: Sendable {
    // A class because all who write share it.
    private let spare = Mutex<JSONWriter?>(nil)
    /// Larger ones are not kept.
    private static let largest = 64 * 1024

    /// Hands `body` an empty writer that nobody else uses meanwhile.
    func withWriter<R>(_ body: (inout JSONWriter) -> R) -> R {
        var writer = spare.withLock { $0.take() } ?? JSONWriter()
        let result = body(&writer)
        writer.removeAll(keepingAtMost: Self.largest)
        var back: JSONWriter? = consume writer
        spare.withLock { $0 = back.take() }
        return result
    }
}
