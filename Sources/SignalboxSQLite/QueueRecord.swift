import Foundation
import SignalboxStore
import Synchronization

/// A record of the queue outside of the queue's own files: its identity, and the last numbers that it assigned. A
/// queue that is behind its record lost commits.
struct QueueRecord: Sendable, Equatable {
    let identity: String
    var event: Int64
    var delivery: Int64

    static func path(in directory: String) -> String { directory + "/queue.id" }

    init(identity: String, event: Int64, delivery: Int64) {
        self.identity = identity
        self.event = event
        self.delivery = delivery
    }

    /// Reads the record of a directory; nil when it is missing or incomplete, for example after a power cut.
    init?(in directory: String) {
        guard let data = FileManager.default.contents(atPath: Self.path(in: directory)), data.count <= 200 else {
            return nil
        }
        let words = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 3, words[0].utf8.count == 32, let event = Int64(words[1]), event >= 0,
            let delivery = Int64(words[2]), delivery >= 0
        else { return nil }
        self.init(identity: String(words[0]), event: event, delivery: delivery)
    }

    /// Has a constant length, so that it is overwritten in place and never half written.
    var text: String { "\(identity) \(Self.digits(event)) \(Self.digits(delivery))\n" }

    private static func digits(_ number: Int64) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 19 - text.utf8.count)) + text
    }
}

/// Writes the record after each commit that appends. A class because it owns a file descriptor.
final class QueueRecordKeeper: Sendable {
    private struct State {
        var file: Int32 = -1
        var record: QueueRecord?
    }

    private let state = Mutex(State())

    deinit {
        let file = state.withLock(\.file)
        if file >= 0 { close(file) }
    }

    /// Maintains a record from now on. Only the owner of a data directory calls this.
    func begin(_ record: QueueRecord, in directory: String) throws(StoreError) {
        let file = open(QueueRecord.path(in: directory), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .directory(path: directory, reason: String(cString: strerror(errno))) }
        state.withLock { state in
            if state.file >= 0 { close(state.file) }
            state = State(file: file, record: record)
            Self.write(record, to: file)
        }
    }

    /// Called after a commit, with the last numbers that it assigned.
    func note(event: Int64?, delivery: Int64?) {
        guard event != nil || delivery != nil else { return }
        state.withLock { state in
            guard var record = state.record else { return }
            record.event = max(record.event, event ?? 0)
            record.delivery = max(record.delivery, delivery ?? 0)
            state.record = record
            Self.write(record, to: state.file)
        }
    }

    /// Does not sync: after a power cut the record may be behind the queue, which is harmless. So is a failed write.
    private static func write(_ record: QueueRecord, to file: Int32) {
        let text = record.text
        _ = pwrite(file, text, text.utf8.count, 0)
    }
}
