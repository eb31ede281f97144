import SignalboxEgress
import SignalboxNotification

/// The body of one reply on its way to disk: known by its first bytes, counted, and given up as soon as it breaks a rule.
///
/// A class because the HTTP client fills it piece by piece.
final class MediaBody: @unchecked Sendable {
    // Sendable: the client's thread has it until the request has its result, and whoever awaits that has it then.
    private let rules: MediaRules
    private let store: MediaStore
    private let host: String
    private var announced = 0
    /// Until it tells the kind.
    private var beginning: [UInt8] = []
    private var count = 0
    private var kind: MediaKind?
    private var writer: MediaWriter?
    private(set) var failure: MediaOutcome?

    init(rules: MediaRules, store: MediaStore, host: String) {
        self.rules = rules
        self.store = store
        self.host = host
    }

    var sink: ReplySink { ReplySink(begin: begin, receive: take) }

    /// The whole file, when the reply came to its end; or why there is none. `headers`: of the reply.
    func end(_ headers: [String: String]) -> Result<(MediaKind, MediaWriter), MediaRefusal> {
        if failure == nil, count == 0, passes(rules.objection(to: ReplySink.Head(headers: headers), from: host)) {
            failure = .failed(MediaFailure(.empty, "\(host) sent a file of no bytes."))
        }
        if failure == nil, kind == nil { _ = recognise() }
        if let failure { return .failure(MediaRefusal(outcome: failure)) }
        guard let kind, let writer else { preconditionFailure("What broke no rule has a kind and a file.") }
        return .success((kind, writer))
    }

    // MARK: On the client's thread

    private func begin(_ head: ReplySink.Head) -> Bool {
        announced = head.announcedBytes ?? 0
        return passes(rules.objection(to: head, from: host))
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        count += bytes.count
        if let kind {
            return passes(rules.objection(to: kind, of: count, from: host)) && write(bytes)
        }
        beginning.append(contentsOf: bytes)
        return beginning.count < MediaKind.telling || recognise()
    }

    private func recognise() -> Bool {
        let kind = MediaKind(beginning: Array(beginning.prefix(MediaKind.telling)))
        guard passes(rules.objection(to: kind, of: max(count, announced), from: host)) else { return false }
        self.kind = kind
        defer { beginning = [] }
        return beginning.withUnsafeBytes(write)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(MediaError) {
            if writer == nil { writer = try store.begin() }
            try writer?.write(bytes)
            return true
        } catch {
            failure = .interrupted(MediaFailure(.storage, error.description), after: nil)
            writer = nil
            return false
        }
    }

    private func passes(_ objection: MediaFailure?) -> Bool {
        guard let objection else { return true }
        failure = .failed(objection)
        // Its file is gone with it.
        writer = nil
        return false
    }
}

/// That a reply brought no file, as the outcome that this is.
struct MediaRefusal: Error {
    let outcome: MediaOutcome
}
