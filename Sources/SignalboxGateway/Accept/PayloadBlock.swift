package import SignalboxJSON
package import SignalboxNotification

/// A part of the input with complete payloads, for one worker. It owns its bytes, so it can move to another task.
package struct PayloadBlock: Sendable {
    private let bytes: [UInt8]
    private let pieces: [JSONSplitter.Piece]

    /// True if there is no payload in it.
    package var isEmpty: Bool { pieces.isEmpty }

    /// The number of its pieces, each of which is a payload, a rejection, or a line with several payloads.
    var count: Int { pieces.count }

    /// Byte offset in the input: payloads of this block begin before it, payloads of later blocks do not.
    package var end: Int { pieces.last.map { $0.offset + max(1, $0.range.count) } ?? 0 }

    /// `taken`: the result of the splitter's `takeAll`.
    fileprivate init(_ taken: (bytes: [UInt8], pieces: [JSONSplitter.Piece])) { (bytes, pieces) = taken }

    /// Reads the payloads from the offset `first` on. `each` receives an event or a rejection, in the order of the
    /// input; false stops. One invalid payload does not affect the others. `parser`: from ``Normalizer/makeParser()``,
    /// not shared during the call. `slice`: ends the call after the first event that takes it beyond this time, counted
    /// from the first payload. Returns the offset at which the next call continues; nil after the last payload, and if
    /// `each` stopped.
    @discardableResult
    package func read(
        from first: Int = 0, by normalizer: Normalizer, as reception: Reception, with parser: JSONParser,
        upTo slice: Duration? = nil, _ each: (consuming Result<Event, Rejection>) -> Bool
    ) -> Int? {
        let envelope = normalizer.envelope(of: reception)
        var end: ContinuousClock.Instant?
        var json = JSONWriter()
        var next: Int?
        forEachText(from: first) { text, place throws(Rejection) in
            // Not earlier: a line with several payloads is cut again in each call, which could take the whole slice.
            if end == nil { end = slice.map { ContinuousClock.now + $0 } }
            let payload = RecordedPayload(text: text, place: place)
            let event = try normalizer.event(payload, in: envelope, with: parser, by: &json)
            guard each(.success(event)) else { return false }
            guard let end, ContinuousClock.now >= end else { return true }
            next = place.offset + text.count
            return false
        } rejected: {
            each(.failure($0))
        }
        return next
    }

    /// Passes every recorded payload that begins at `first` or later to `read`, and every rejection to `rejected`,
    /// until one of them returns false. A payload is valid for the duration of the call. `read` may use `parser`, and
    /// may throw a rejection. `offsets`: only payloads at these positions, and their neighbours in a line; nil for all.
    /// The caller chooses the id and the source of the events; see ``Recording``.
    package func forEachPayload(
        in envelope: RecordedEnvelope, from first: Int = 0, at offsets: Set<Int>? = nil, with parser: JSONParser,
        _ read: (RecordedPayload) throws(Rejection) -> Bool, rejected: (Rejection) -> Bool
    ) {
        forEachText(from: first, through: offsets?.max() ?? .max, at: offsets) { text, place throws(Rejection) in
            try envelope.open(text, at: place, with: parser, read)
        } rejected: {
            rejected($0)
        }
    }

    /// Passes every text to `read`, and the rejections of `read` and of the splitter to `rejected`, until one of them
    /// returns false, or a text begins after `last`. `first`: texts that begin before this offset are skipped.
    /// `offsets`: texts elsewhere are skipped, except for those of a line whose first text is at one of them; nil skips
    /// none. Returns false if the reading ended early. A line that is not one text is cut again at its brackets.
    @discardableResult
    func forEachText(
        from first: Int = 0, through last: Int = .max, at offsets: Set<Int>? = nil,
        _ read: (UnsafeBufferPointer<UInt8>, PayloadPosition) throws(Rejection) -> Bool, rejected: (Rejection) -> Bool
    ) -> Bool {
        bytes.withUnsafeBufferPointer { all in
            pieces.allSatisfy { piece in
                let place = PayloadPosition(line: piece.line, offset: piece.offset)
                guard place.offset <= last else { return false }
                if place.offset < first || offsets?.contains(place.offset) == false {
                    // Later texts of the line may be requested.
                    guard piece.isLine, piece.offset + piece.range.count > first else { return true }
                    let line = UnsafeBufferPointer(rebasing: all[piece.range])
                    return PayloadBlock(cutting: line, at: place)?
                        .forEachText(from: first, through: last, at: offsets, read, rejected: rejected) ?? true
                }
                // The parser describes damaged texts, so that a rejection does not depend on the chunks of the input.
                if let fault = piece.fault, fault == .tooLong || piece.range.isEmpty {
                    return rejected(Rejection(fault, at: place))
                }
                let text = UnsafeBufferPointer(rebasing: all[piece.range])
                do throws(Rejection) {
                    return try read(text, place)
                } catch {
                    guard piece.isLine, let parts = PayloadBlock(cutting: text, at: place) else {
                        return rejected(error)
                    }
                    return parts.forEachText(read, rejected: rejected)
                }
            }
        }
    }

    /// Cuts a line that is not one payload at its brackets; nil when it holds one text. `place`: the position of the
    /// line in the input, so that rejections keep absolute positions.
    private init?(cutting line: UnsafeBufferPointer<UInt8>, at place: PayloadPosition) {
        var splitter = JSONSplitter(
            limit: Normalizer.payloadLimit, takesLines: false, line: place.line, offset: place.offset)
        splitter.append(UnsafeRawBufferPointer(line))
        splitter.finish()
        let taken = splitter.takeAll()
        guard taken.pieces.count > 1 else { return nil }
        self.init(taken)
    }
}

/// Cuts input into blocks as it arrives: NDJSON, a JSON array, or concatenated texts. Holds only input that does not
/// form a complete payload yet, and complete payloads that were not taken.
package struct PayloadBlocks {
    private var splitter = JSONSplitter(limit: Normalizer.payloadLimit)

    /// The input may have any of the three formats.
    package init() {}

    /// True if the input is a JSON array.
    package var isArray: Bool { splitter.isArray }

    /// Appends a part of the input, cut anywhere. The bytes are copied; they need to be valid during the call only.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) { splitter.append(bytes) }

    /// Appends a part of the input. The bytes are copied unless it is the first part.
    mutating func append(_ bytes: [UInt8]) { splitter.append(bytes) }

    /// Ends the input. A rest that is not a complete payload becomes a rejection of the last block.
    package mutating func finish() { splitter.finish() }

    /// All complete payloads since the last call. Empty if no payload is complete. Call it after each ``append(_:)``
    /// to bound the memory.
    package mutating func take() -> PayloadBlock { PayloadBlock(splitter.takeAll()) }
}

extension Rejection {
    /// Faults of the splitter as rejections: an array that is not closed, and payloads beyond the size limit.
    fileprivate init(_ fault: JSONSplitter.Fault, at place: PayloadPosition) {
        switch fault {
        case .truncated: self.init(.truncated, at: place, "The array of payloads is not closed: send all of it.")
        case .tooLong:
            self.init(
                .tooLarge, at: place,
                "The payload that begins here is larger than \(Normalizer.payloadLimit) bytes, which no push service accepts."
            )
        }
    }
}
