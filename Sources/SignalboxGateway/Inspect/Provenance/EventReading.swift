import SignalboxJSON
import SignalboxNotification

/// The scalars of an event by their pointers, to compare the readings of two payloads.
struct EventReading {
    /// The scalars of `data` except its warnings and its detection, which describe the payload and not its content.
    private(set) var values: [String: Scalar] = [:]
    /// The lengths of all arrays of `data`.
    private(set) var lengths: [String: Int] = [:]
    /// Warnings and detection as text.
    private(set) var remarks = ""
    /// False if the pointers have more than ``mostPointerBytes``: then some values are missing.
    private(set) var isComplete = true

    /// Bytes of all pointers. Each value has one, and a sender chooses the keys in it.
    private static let mostPointerBytes = 4 << 20
    private var pointerBytes = 0

    /// Nil unless the bytes are an event.
    init?(_ event: [UInt8], with parser: JSONParser) {
        parser.reset()
        guard let document = EventDocument(event, with: parser) else { return nil }
        remarks = ["warnings", "detection"].map { document.json("data", $0)?.string ?? "" }.joined(separator: "\n")
        document.withRoot { root, _ in
            guard let data = root["data"] else { return }
            data.forEachMember { key, value in
                guard !key.equals("warnings"), !key.equals("detection") else { return }
                collect(value, "/data" + Self.token(key))
            }
        }
    }

    private mutating func collect(_ value: JSONValue, _ pointer: String) {
        pointerBytes += pointer.utf8.count
        guard pointerBytes <= Self.mostPointerBytes else { return isComplete = false }
        if value.isObject {
            var members: [(String, JSONValue)] = []
            value.forEachMember { members.append((Self.token($0), $1)) }
            for (token, member) in members where isComplete { collect(member, pointer + token) }
        } else if let scalar = Scalar(value) {
            values[pointer] = scalar
        } else {
            var count = 0
            for element in value.elements where isComplete {
                collect(element, "\(pointer)/\(count)")
                count += 1
            }
            lengths[pointer] = count
        }
    }

    private static func token(_ key: UnsafeBufferPointer<UInt8>) -> String {
        "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
    }

    /// Whether an array that contains the value has another length in the other reading: its elements may then be
    /// others.
    func isShifted(_ pointer: String, in other: EventReading) -> Bool {
        var part = Substring(pointer)
        while let slash = part.lastIndex(of: "/") {
            part = part[..<slash]
            if let length = lengths[String(part)], other.lengths[String(part)] != length { return true }
        }
        return false
    }

    /// True for values that a reader did not use: those of the app.
    static func isCustom(_ pointer: String) -> Bool { pointer == "/data/custom" || pointer.hasPrefix("/data/custom/") }

    /// The values by which a payload is read in a certain way.
    var recognition: [Scalar?] { ["/data/vendor", "/data/platform"].map { values[$0] } }

    /// Pointers of its values that the other reading lacks or has otherwise.
    func changes(in other: EventReading) -> [String] {
        values.compactMap { pointer, value in other.values[pointer] == value ? nil : pointer }
    }
}
