package import SignalboxJSON
package import SignalboxNotification

/// Where a recording by another tool keeps the payload, when it was sent and whose token it was sent to.
package struct RecordedEnvelope: Sendable, Equatable {
    /// Of the payload: an object, or a string that holds its JSON. Nil where the recorded text itself is the payload.
    package var payload: JSONPointer?
    /// Of the time: RFC 3339, or seconds or milliseconds since 1970. Nil where nobody asks.
    package var time: JSONPointer?
    /// Of the device token, a string. Nil where nobody asks.
    package var token: JSONPointer?

    package init(payload: JSONPointer? = nil, time: JSONPointer? = nil, token: JSONPointer? = nil) {
        self.payload = payload
        self.time = time
        self.token = token
    }

    /// Whether texts are payloads and nothing else is asked of them.
    var isNone: Bool { payload == nil && time == nil && token == nil }

    /// Hands `body` the payload of a recorded text, for as long as the call lasts. `parser` is free to be used by it.
    func open<R>(
        _ text: UnsafeBufferPointer<UInt8>, at place: Place, with parser: JSONParser,
        _ body: (RecordedPayload) throws(Rejection) -> R
    ) throws(Rejection) -> R {
        guard !isNone else { return try body(RecordedPayload(text: text, place: place)) }
        parser.reset()
        let root: JSONValue
        do throws(JSONError) {
            root = try parser.parse(text)
        } catch {
            throw Rejection(error, in: text, at: place)
        }
        let time = try time.map { (pointer) throws(Rejection) in try recordedTime(pointer, in: root, at: place) }
        let token = try token.flatMap { (pointer) throws(Rejection) in try recordedToken(pointer, in: root, at: place) }
        guard let payload else {
            return try body(RecordedPayload(text: text, place: place, time: time, token: token))
        }
        // A copy, because the parser will be asked to read it.
        let copy = try bytes(of: payload, in: root, at: place)
        return try copy.withUnsafeBufferPointer { (bytes) throws(Rejection) in
            try body(RecordedPayload(text: bytes, place: place, time: time, token: token))
        }
    }

    private func bytes(of pointer: JSONPointer, in root: JSONValue, at place: Place) throws(Rejection) -> [UInt8] {
        guard let value = pointer.value(in: root) else {
            throw Rejection(.envelope, at: place, "There is nothing at \(pointer.text), where payloads should be.")
        }
        if let text = value.utf8 { return Array(text) }
        guard value.isObject else {
            throw Rejection(
                .envelope, at: place,
                "What is at \(pointer.text) is no payload: that is an object, or a string that holds one.")
        }
        return JSONText(value).bytes
    }

    private func recordedTime(
        _ pointer: JSONPointer, in root: JSONValue, at place: Place
    ) throws(Rejection) -> Timestamp {
        guard let value = pointer.value(in: root), let time = Timestamp(recorded: value) else {
            throw Rejection(
                .envelope, at: place,
                "There is no time at \(pointer.text): it is RFC 3339, or seconds or milliseconds since 1970.")
        }
        return time
    }

    /// Nil where the recording has none.
    private func recordedToken(
        _ pointer: JSONPointer, in root: JSONValue, at place: Place
    ) throws(Rejection) -> [UInt8]? {
        guard let value = pointer.value(in: root), !value.isNull else { return nil }
        guard let text = value.utf8 else {
            throw Rejection(.envelope, at: place, "What is at \(pointer.text) is no device token: that is a string.")
        }
        return text.isEmpty ? nil : Array(text)
    }
}

/// A payload as a recording has it; its text lasts as long as the call that it is handed to.
package struct RecordedPayload {
    package let text: UnsafeBufferPointer<UInt8>
    /// Of the recorded text in its input.
    package let place: Place
    /// When it was sent, where the recording was asked.
    package let time: Timestamp?
    /// Of the device, where the recording was asked and says it.
    package let token: [UInt8]?

    init(text: UnsafeBufferPointer<UInt8>, place: Place, time: Timestamp? = nil, token: [UInt8]? = nil) {
        self.text = text
        self.place = place
        self.time = time
        self.token = token
    }
}

extension Timestamp {
    /// Reads RFC 3339, or a number or its text: from 100,000,000,000 on those are milliseconds since 1970, below it
    /// seconds. Nil for anything else, and outside of the calendar.
    fileprivate init?(recorded value: JSONValue) {
        if let text = value.utf8 {
            if let time = Timestamp(iso8601: text) {
                self = time
            } else if let number = Double(String(decoding: text, as: UTF8.self)) {
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

    private init?(sinceEpoch number: Double) {
        // As seconds that would be the year 5138, as milliseconds it is 1973.
        let milliseconds = number.magnitude < 100_000_000_000 ? number * 1000 : number
        guard let whole = Int64(exactly: milliseconds.rounded(.down)) else { return nil }
        self.init(milliseconds: whole)
    }
}
