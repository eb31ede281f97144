import SignalboxJSON
import SignalboxNotification
import Synchronization

/// Notices recordings of other tools that are read without `--payload-at`: their texts are read as payloads of no
/// push service, and have a payload in one of their members.
///
/// A class because the workers of a run share it. It examines the first texts only.
final class WrappedPayloads: Sendable {
    /// The most texts that are examined.
    private static let most = 20
    /// The most members of a text that are examined.
    private static let mostMembers = 50

    private let left = Atomic(WrappedPayloads.most)
    /// The number of texts by the pointer of their payload; the empty pointer stands for none.
    private let found = Mutex<[String: Int]>([:])

    /// Examines a recorded text. Callable from any thread. Does nothing after the first texts.
    func examine(_ text: UnsafeBufferPointer<UInt8>) {
        guard left.load(ordering: .relaxed) > 0, left.subtract(1, ordering: .relaxed).oldValue > 0 else { return }
        let pointer = Self.pointer(in: text)
        found.withLock { $0[pointer ?? "", default: 0] += 1 }
    }

    /// The remedy as one line; nil unless at least half of the examined texts have their payload in a member. Names
    /// every place, the most frequent first.
    var advice: String? {
        var places = found.withLock { $0 }
        let others = places.removeValue(forKey: "") ?? 0
        let wrapped = places.values.reduce(0, +)
        guard wrapped > 0, wrapped >= others else { return nil }
        let pointers = places.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        let remedy =
            pointers.count == 1
            ? "Add --payload-at \(pointers[0])."
            : "Replay the texts of each place separately, with --payload-at."
        return "Warning: the payloads seem to be at \(pointers.joined(separator: " or ")) of the recorded texts. "
            + remedy
    }

    /// The location of the payload in a text that is not a payload itself, at most two levels deep.
    private static func pointer(in text: UnsafeBufferPointer<UInt8>) -> String? {
        let parser = JSONParser()
        guard let root = try? parser.parse(text), root.isObject else { return nil }
        let pointer = pointer(in: root, levels: 2, parser)
        return pointer?.isEmpty == true ? nil : pointer
    }

    /// The place of the payload in an object; empty if the object itself is one, nil if there is none. Recursion is
    /// bounded by `levels`.
    private static func pointer(in object: JSONValue, levels: Int, _ parser: JSONParser) -> String? {
        let envelope = envelope(of: object, parser)
        // An object of strings looks like the data of FCM, even if one of the strings is the whole payload.
        if levels > 0, envelope == nil || envelope == .fcmData || envelope == .fcmExtras {
            for (key, value) in object.members.prefix(mostMembers) where isWholePayload(value, parser) {
                return pointer(to: key)
            }
        }
        if envelope != nil { return "" }
        guard levels > 0 else { return nil }
        for (key, value) in object.members.prefix(mostMembers) {
            if value.isObject {
                if let rest = self.pointer(in: value, levels: levels - 1, parser) { return pointer(to: key) + rest }
            } else if isPayload(value, parser) {
                return pointer(to: key)
            }
        }
        return nil
    }

    private static func pointer(to key: UnsafeBufferPointer<UInt8>) -> String {
        "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
    }

    /// The object whose JSON text a string is; nil for any other value.
    private static func inner(_ text: JSONValue, _ parser: JSONParser) -> JSONValue? {
        guard text.utf8?.first == UInt8(ascii: "{"), let inner = try? parser.parseText(in: text), inner.isObject
        else { return nil }
        return inner
    }

    /// Whether a string is the JSON text of a payload for APNs, or of a request to FCM. No vendor sends these as a
    /// value of FCM's data.
    private static func isWholePayload(_ text: JSONValue, _ parser: JSONParser) -> Bool {
        guard let inner = inner(text, parser) else { return false }
        switch envelope(of: inner, parser) {
        case .apns, .apnsThroughFCM: return true
        case .fcmV1: return inner["message"]?.isObject == true
        default: return false
        }
    }

    /// Whether a string is the JSON text of a payload.
    private static func isPayload(_ text: JSONValue, _ parser: JSONParser) -> Bool {
        inner(text, parser).map { envelope(of: $0, parser) != nil } ?? false
    }

    /// The envelope of a payload; nil for an object that has the form of none.
    private static func envelope(of object: JSONValue, _ parser: JSONParser) -> Envelope? {
        do throws(PlatformError) {
            let payload = try Platforms.recognise(object, size: 0, parser: parser)
            return payload.envelope == .other ? nil : payload.envelope
        } catch {
            return nil
        }
    }
}
