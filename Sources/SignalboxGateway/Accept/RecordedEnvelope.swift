package import SignalboxJSON
package import SignalboxNotification

/// Positions of payload, time and device token in a recording of another tool.
package struct RecordedEnvelope: Sendable, Equatable {
    /// The payload: an object, or a string that contains its JSON. Nil if the recorded text itself is the payload.
    package var payload: JSONPointer?
    /// The time at which it was sent: RFC 3339, or seconds or milliseconds since 1970. Nil if it is not read.
    package var time: JSONPointer?
    /// The device token, a string. Nil if not read.
    package var token: JSONPointer?

    /// Without positions, every recorded text is a payload.
    package init(payload: JSONPointer? = nil, time: JSONPointer? = nil, token: JSONPointer? = nil) {
        (self.payload, self.time, self.token) = (payload, time, token)
    }

    /// True if texts are payloads and have no further values to read.
    var isNone: Bool { payload == nil && time == nil && token == nil }

    /// Passes the payload of a recorded text to `body`, for the duration of the call. `body` may use `parser`. Throws
    /// the rejection `envelope` if a position that is named has no usable value, and the rejections of JSON errors.
    func open<R>(
        _ text: UnsafeBufferPointer<UInt8>, at place: PayloadPosition, with parser: JSONParser,
        _ body: (RecordedPayload) throws(Rejection) -> R
    ) throws(Rejection) -> R {
        guard !isNone else { return try body(RecordedPayload(text: text, place: place)) }
        parser.reset()
        let root = try parser.parse(text) { Rejection($0, in: text, at: place) }
        let time = try time.map { (pointer) throws(Rejection) in try recordedTime(pointer, in: root, at: place) }
        let token = try token.flatMap { (pointer) throws(Rejection) in try recordedToken(pointer, in: root, at: place) }
        guard let payload else { return try body(RecordedPayload(text: text, place: place, time: time, token: token)) }
        // A copy, because the same parser reads it next.
        let copy = try bytes(of: payload, in: root, at: place)
        return try copy.withUnsafeBufferPointer { (bytes) throws(Rejection) in
            try body(RecordedPayload(text: bytes, place: place, time: time, token: token))
        }
    }

    /// Throws if there is no value at the pointer, or if it is neither an object nor a string.
    private func bytes(of pointer: JSONPointer, in root: JSONValue, at place: PayloadPosition) throws(Rejection)
        -> [UInt8]
    {
        guard let value = pointer.value(in: root) else {
            throw Rejection(.envelope, at: place, "There is no payload at \(pointer.text).")
        }
        if let text = value.utf8 { return Array(text) }
        guard value.isObject else {
            throw Rejection(
                .envelope, at: place,
                "The value at \(pointer.text) is not a payload: expected an object, or a string that contains one.")
        }
        return JSONText(value).bytes
    }

    /// Throws if there is no time at the pointer: a replay by time must not guess.
    private func recordedTime(
        _ pointer: JSONPointer, in root: JSONValue, at place: PayloadPosition
    ) throws(Rejection) -> Timestamp {
        guard let value = pointer.value(in: root), let time = Timestamp(recorded: value) else {
            throw Rejection(
                .envelope, at: place,
                "There is no time at \(pointer.text): expected RFC 3339, or seconds or milliseconds since 1970.")
        }
        return time
    }

    /// Nil if the recording has no token. Throws for a value that is neither a string nor null.
    private func recordedToken(
        _ pointer: JSONPointer, in root: JSONValue, at place: PayloadPosition
    ) throws(Rejection) -> [UInt8]? {
        guard let value = pointer.value(in: root), !value.isNull else { return nil }
        guard let text = value.utf8 else {
            throw Rejection(
                .envelope, at: place, "The value at \(pointer.text) is not a device token: expected a string.")
        }
        return text.isEmpty ? nil : Array(text)
    }
}

/// A recorded payload. Its text is valid for the duration of the call that receives it.
package struct RecordedPayload {
    /// The JSON of the payload; a copy if the envelope names its position.
    package let text: UnsafeBufferPointer<UInt8>
    /// The place of the recorded text in its input.
    package let place: PayloadPosition
    /// When it was sent, if the envelope names a position.
    package let time: Timestamp?
    /// The device token, if the envelope names a position and the recording has one, or if the push names it.
    package let token: [UInt8]?
    /// The request that brought the payload to a provider endpoint; nil for other payloads.
    let push: ProviderPush?

    /// A payload without an envelope has neither time nor token.
    init(text: UnsafeBufferPointer<UInt8>, place: PayloadPosition, time: Timestamp? = nil, token: [UInt8]? = nil) {
        (self.text, self.place, self.time, self.token) = (text, place, time, token)
        push = nil
    }

    /// The body of a request to a provider endpoint. `text`: the bytes of the push's body.
    init(text: UnsafeBufferPointer<UInt8>, of push: ProviderPush) {
        (self.text, self.push) = (text, push)
        place = PayloadPosition()
        time = nil
        token = push.token
    }
}

extension Timestamp {
    /// Reads RFC 3339, or a number as such or as a string: seconds since 1970 below 100,000,000,000, milliseconds from
    /// there on. Nil for any other value, and outside of the calendar.
    fileprivate init?(recorded value: JSONValue) {
        if let text = value.utf8 {
            if let time = Timestamp(iso8601: text) {
                self = time
            } else if let number = Double(decimal: String(decoding: text, as: UTF8.self)) {
                self.init(sinceEpoch: number)
            } else {
                return nil
            }
        } else if let number = value.double {
            self.init(sinceEpoch: number)
        } else {
            return nil
        }
    }

    /// Rounds down to whole milliseconds. Nil for a number that is not finite or too large.
    private init?(sinceEpoch number: Double) {
        // The limit is the year 5138 in seconds, and 1973 in milliseconds.
        let milliseconds = number.magnitude < 100_000_000_000 ? number * 1000 : number
        guard let whole = Int64(exactly: milliseconds.rounded(.down)) else { return nil }
        self.init(milliseconds: whole)
    }
}
