import SignalboxJSON
import Synchronization

/// Lends a writer and keeps its memory, for callers that write one event at a time.
///
/// A class because all callers share it. At most one writer is kept. A second concurrent caller gets a new one.
final class SpareWriter: Sendable {
    private let spare = Mutex<JSONWriter?>(nil)
    /// Larger buffers are freed.
    private static let largest = 64 * 1024

    /// Lends `body` an empty writer for the duration of the call. The bytes of the writer are gone after the call, so
    /// `body` must copy what it keeps.
    func withWriter<R>(_ body: (inout JSONWriter) -> R) -> R {
        var writer = spare.withLock { $0.take() } ?? JSONWriter()
        let result = body(&writer)
        writer.removeAll(keepingAtMost: Self.largest)
        var back: JSONWriter? = consume writer
        spare.withLock { $0 = back.take() }
        return result
    }
}
