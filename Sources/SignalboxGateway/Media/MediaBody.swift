import SignalboxEgress
import SignalboxNotification

/// Writes the body of one response to disk: sniffs its kind, counts its bytes, and stops at the first broken rule.
///
/// A class because the HTTP client fills it piece by piece.
final class MediaBody: @unchecked Sendable {
    // Sendable: the client's thread uses it until the request has its result, then only the caller does.
    /// Sizes and kinds that the config accepts.
    private let rules: MediaRules
    private let store: MediaStore
    /// The server, for texts of failures; never the URL.
    private let host: String
    /// The `Content-Length`; 0 without one.
    private var announced = 0
    /// The first bytes, until they decide the kind.
    private var beginning: [UInt8] = []
    /// Bytes received so far.
    private var count = 0
    /// Nil until the first bytes decide it.
    private var kind: MediaKind?
    /// Nil until the kind is accepted.
    private var writer: MediaWriter?
    /// The first broken rule; later bytes are not received.
    private(set) var failure: MediaOutcome?

    /// `host`: for the texts of failures. Creates no file before the first bytes are accepted.
    init(rules: MediaRules, store: MediaStore, host: String) {
        (self.rules, self.store, self.host) = (rules, store, host)
    }

    /// The closures retain this object for the duration of the request.
    var sink: ReplySink { ReplySink(begin: begin, receive: receive) }

    /// A file is not yet stored: the caller passes its writer to ``MediaStore/keep(_:as:)``, or drops it to remove
    /// the file.
    enum Ending: Sendable {
        /// Complete and within the rules.
        case file(MediaKind, MediaWriter)
        case failure(MediaOutcome)
    }

    /// Ends the body of a complete response. `headers`: the headers of the response. Call it once, after the request
    /// has its result. A body of fewer bytes than ``MediaKind/telling`` is recognised and written here. Blocks.
    func end(_ headers: [String: String]) -> Ending {
        if failure == nil, count == 0, passes(rules.objection(to: ReplySink.Head(headers: headers), from: host)) {
            failure = .failed(MediaFailure(.empty, "\(host) sent a file of no bytes."))
        }
        if failure == nil, kind == nil { _ = recognise() }
        if let failure { return .failure(failure) }
        guard let kind, let writer else { preconditionFailure("A body without a failure has a kind and a file.") }
        return .file(kind, writer)
    }

    /// Removes the file of a response that did not end. Call it after the request has its result; the client's thread
    /// may hold the body a moment longer. Blocks.
    func discard() {
        writer?.discard()
        writer = nil
    }

    // MARK: On the client's thread

    /// Rejects a body by its headers, before any byte is read.
    private func begin(_ head: ReplySink.Head) -> Bool {
        announced = head.announcedBytes ?? 0
        return passes(rules.objection(to: head, from: host))
    }

    /// Returns false to end the download. Buffers until ``MediaKind/telling`` bytes decide the kind, then writes each
    /// piece.
    private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        count += bytes.count
        if let kind { return passes(rules.objection(to: kind, of: count, from: host)) && write(bytes) }
        beginning.append(contentsOf: bytes)
        return beginning.count < MediaKind.telling || recognise()
    }

    /// Uses the announced size too, so that a file that will be too large is rejected early.
    private func recognise() -> Bool {
        let kind = MediaKind(beginning: beginning)
        guard passes(rules.objection(to: kind, of: max(count, announced), from: host)) else { return false }
        self.kind = kind
        defer { beginning = [] }
        return beginning.withUnsafeBytes(write)
    }

    /// Creates the file with the first bytes. An error of the disk counts as temporary.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(MediaError) {
            if writer == nil { writer = try store.begin() }
            try writer?.write(bytes)
            return true
        } catch {
            return fail(.interrupted(MediaFailure(.storage, error.description), after: nil))
        }
    }

    /// Records an objection as a permanent failure.
    private func passes(_ objection: MediaFailure?) -> Bool { objection.map { fail(.failed($0)) } ?? true }

    /// Records the failure and removes the file. Returns false.
    private func fail(_ outcome: MediaOutcome) -> Bool {
        failure = outcome
        writer = nil
        return false
    }
}
