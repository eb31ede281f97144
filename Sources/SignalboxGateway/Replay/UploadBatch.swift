package import SignalboxNotification

/// Payloads that are sent to a gateway in one request, and the rejections between them. A batch may consist of
/// rejections only; no request is sent for it.
package struct UploadBatch: Sendable {
    /// Position of the first payload, which identifies the request; nil if there is no payload.
    package fileprivate(set) var first: InputPosition?
    /// NDJSON, or concatenated texts: payloads keep their own line ends.
    package fileprivate(set) var body: [UInt8] = []
    /// Places of the payloads, in their order.
    package fileprivate(set) var places: [PayloadPosition] = []
    /// When the first payload was recorded.
    package fileprivate(set) var recorded: Timestamp?
    /// Rejections by this process, in the order of the input.
    package fileprivate(set) var rejections: [Rejection] = []
    /// Everything before it is in this batch or an earlier one.
    package fileprivate(set) var end: InputPosition
    /// Index of the input of all payloads.
    package let input: Int

    fileprivate init(end: InputPosition) {
        self.end = end
        input = end.input
    }
}

/// Groups payloads into requests. The cuts do not depend on where reading began, so that a request repeated after a
/// crash is the same request. Equal recordings and options give equal requests, so an idempotency key never meets
/// another body.
package struct UploadBatches: Sendable {
    /// Maximum number of payloads in a request. A receipt has a few hundred bytes unless many routes match its
    /// payload; ``UploadAnswer/longestReply`` bounds those of a request.
    package static let most = 100
    /// A request never contains payloads of two parts of the input of this length.
    static let stretch = 64 * 1024

    private let most: Int
    private let span: Int64
    /// The batch that the next payload may join.
    private var open: UploadBatch?

    /// `most`: maximum number of payloads in a request. `span`: maximum difference of their recorded times, in
    /// milliseconds.
    package init(most: Int = Self.most, span: Int64 = .max) {
        self.most = max(1, min(most, Self.most))
        self.span = span
    }

    /// Appends a payload; returns the batch that had to be closed before it, if any. The payload itself is in the
    /// open batch afterwards, and is returned with a later one.
    package mutating func add(
        _ payload: [UInt8], at place: PayloadPosition, recorded: Timestamp?, input: Int
    ) -> UploadBatch? {
        let full = open.flatMap { canTake(place, recorded, input, in: $0) ? nil : $0 }
        if full != nil { open = nil }
        let position = InputPosition(input: input, offset: place.offset)
        // Moved out of `open`: a copy would copy the body for every payload.
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

    /// Appends a rejection, which does not influence the cuts. Rejections do not count toward the payloads of a
    /// request.
    package mutating func add(_ rejection: Rejection, input: Int) {
        var batch = open.take() ?? UploadBatch(end: InputPosition(input: input))
        batch.rejections.append(rejection)
        batch.end = InputPosition(input: input, offset: rejection.place.offset + 1)
        open = batch
    }

    /// Records how far the input was read. Returns the open batch if it is complete, an empty batch with the new end
    /// if there is none, and nil if the open batch can still grow. `position`: the end of the block that was read.
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

    /// Closes and returns the open batch. Nil if no batch is open.
    package mutating func close() -> UploadBatch? { open.take() }

    /// Payloads of one request are of one input and one stretch of it, and near in recorded time.
    private func canTake(_ place: PayloadPosition, _ recorded: Timestamp?, _ input: Int, in batch: UploadBatch) -> Bool
    {
        guard let first = batch.first else { return batch.input == input }
        guard first.input == input, batch.places.count < most,
            first.offset / Self.stretch == place.offset / Self.stretch
        else { return false }
        guard span != .max, let recorded, let earlier = batch.recorded else { return true }
        return abs(recorded.milliseconds - earlier.milliseconds) <= span
    }
}
