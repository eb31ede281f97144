import SignalboxNotification

extension PostgresValue {
    /// An id of an event from outside, for `$1::text::uuid`; nil for a text that no event has as its id. The server
    /// accepts other spellings of a UUID, which the API treats as other ids.
    static func eventID(_ text: String) -> PostgresValue? { isEventID(text) ? .text(text) : nil }

    /// Whether a text is a UUID in the form that the gateway writes: 36 characters, in lower case.
    static func isEventID(_ text: String) -> Bool {
        guard text.utf8.count == EventID.length else { return false }
        return text.utf8.enumerated().allSatisfy { position, byte in
            switch position {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default:
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
        }
    }
}
