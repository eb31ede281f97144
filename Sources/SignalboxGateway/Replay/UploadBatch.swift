package import SignalboxNotification

/// Payloads that go to a gateway in one request, and what was rejected beside them.
package struct UploadBatch: Sendable {
    /// Of its first payload: the request's identity. Nil when there is none.
    package fileprivate(set) var first: InputPosition?
    /// NDJSON, or texts that follow one another: payloads keep their own line ends.
    package fileprivate(set) var body: [UInt8] = []
    /// Of the payloads, in their order.
    package fileprivate(set) var places: [Place] = []
    /// When the first payload was recorded.
    package fileprivate(set) var recorded: Timestamp?
    package fileprivate(set) var rejections: [Rejection] = []
    /// All before it is in this batch or in earlier ones.
    package fileprivate(set) var end: InputPosition
    /// Where all of it stands.
    package let input: Int

    fileprivate init(end: InputPosition) {
        self.end = end
        input = end.input
    }
}

/// Puts payloads into requests, always at the same places of the input wherever reading began: so a request that is made
/// again after a crash is the same request.
package struct UploadBatches: Sendable {
    /// Payloads in one request at most. A receipt has a few hundred bytes, and a reply is read up to 256 KiB.
    package static let most = 100
    /// No request holds payloads of two stretches of the input of this length.
    static let stretch = 64 * 1024

    private let most: Int
    private let span: Int64
    private var open: UploadBatch?

    /// `most`: payloads in a request. `span`: how far apart, in milliseconds, they may have been recorded.
    package init(most: Int = Self.most, span: Int64 = .max) {
        self.most = max(1, min(most, Self.most))
        self.span = span
    }

    /// Adds a payload; returns the batch that had to be closed for it, if one had.
    package mutating func add(
        _ payload: [UInt8], at place: Place, recorded: Timestamp?, input: Int
    ) -> UploadBatch? {
        let full = open.flatMap { canTake(place, recorded, input, in: $0) ? nil : $0 }
        if full != nil { open = nil }
        let position = InputPosition(input: input, offset: place.offset)
        // Taken, not copied: else its body would be, for every payload.
        var batch = open.take() ?? UploadBatch(end: position)
        if batch.first == nil {
            batch.first = position
            batch.recorded = recorded
        } else {
            batch.body.append(UInt8(ascii: "\n"))
        }
        batch.body += payload
        batch.places.append(place)
        batch.end = InputPosition(input: input, offset: place.offset + 1)
        open = batch
        return full
    }

    /// Adds what was rejected. It does not count for where requests are cut.
    package mutating func add(_ rejection: Rejection, input: Int) {
        var batch = open.take() ?? UploadBatch(end: InputPosition(input: input))
        batch.rejections.append(rejection)
        batch.end = InputPosition(input: input, offset: rejection.place.offset + 1)
        open = batch
    }

    /// Says how far the input was read. Returns the batch that is being filled when nothing more can come into it, and an
    /// empty one that says so when there is none.
    package mutating func reached(_ position: InputPosition) -> UploadBatch? {
        if let first = open?.first, first.input == position.input,
            first.offset / Self.stretch >= position.offset / Self.stretch
        {
            return nil
        }
        var batch = open.take() ?? UploadBatch(end: position)
        batch.end = max(batch.end, position)
        return batch
    }

    /// The batch that is being filled.
    package mutating func close() -> UploadBatch? { open.take() }

    private func canTake(_ place: Place, _ recorded: Timestamp?, _ input: Int, in batch: UploadBatch) -> Bool {
        guard let first = batch.first else { return batch.input == input }
        guard first.input == input, batch.places.count < most,
            first.offset / Self.stretch == place.offset / Self.stretch
        else { return false }
        guard span != .max, let recorded, let earlier = batch.recorded else { return true }
        return abs(recorded.milliseconds - earlier.milliseconds) <= span
    }
}
