import SignalboxJSON
import SignalboxNotification
import Synchronization

/// Notices recordings of other tools that are read without `--payload-at`: their texts are read as payloads of no
/// push service, and have a payload in one of their members.
///
/// A class because the workers of a run share it. It examines the first texts only.
final class WrappedPayloads: Sendable {
    /// Texts that are examined.
    private static let most = 20
    /// Members of a text that are examined.
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

    /// The remedy in words; nil unless half of the examined texts, or more, have their payload in a member.
    var advice: String? {
        let found = found.withLock { $0 }
        let all = found.values.reduce(0, +)
        let places = found.filter { !$0.key.isEmpty }
        guard let place = places.keys.min(), places.values.reduce(0, +) * 2 >= all else { return nil }
        guard places.count > 1 else {
            return "Warning: the payloads seem to be at \(place) of the recorded texts. Add --payload-at \(place)."
        }
        return "Warning: the payloads seem to be at \(places.keys.sorted().joined(separator: " or ")) of the recorded "
            + "texts. Replay each form by itself, with --payload-at."
    }

    /// The place of the payload in a text that is none itself, at most two levels deep. An object of strings only looks
    /// like the data of an FCM message, so a string that holds a whole payload decides first.
    private static func pointer(in text: UnsafeBufferPointer<UInt8>) -> String? {
        let parser = JSONParser()
        guard let root = try? parser.parse(text), root.isObject else { return nil }
        if root["aps"] == nil {
            for (key, value) in root.members.prefix(mostMembers) where holdsWholePayload(value, parser) {
                return "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
            }
        }
        guard !isPayload(root, parser) else { return nil }
        for (key, value) in root.members.prefix(mostMembers) {
            let pointer = "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
            if isPayload(value, parser) { return pointer }
            for (key, value) in value.members.prefix(mostMembers) where isPayload(value, parser) {
                return pointer + "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
            }
        }
        return nil
    }

    /// Whether a string is the JSON text of a payload for APNs, or of a message for FCM with its target. The data of an
    /// FCM message holds neither.
    private static func holdsWholePayload(_ value: JSONValue, _ parser: JSONParser) -> Bool {
        guard let inner = object(in: value, parser) else { return false }
        if let aps = inner["aps"] { return aps.isObject }
        guard let message = inner["message"], message.isObject else { return false }
        return message["token"]?.isString == true || message["topic"]?.isString == true
            || message["data"]?.isObject == true
    }

    /// The object that a string holds as JSON; nil for another value.
    private static func object(in value: JSONValue, _ parser: JSONParser) -> JSONValue? {
        guard value.utf8?.first == UInt8(ascii: "{"), let inner = try? parser.parseText(in: value), inner.isObject
        else { return nil }
        return inner
    }

    /// Whether an object, or the JSON text of one, is in the envelope of a push service.
    private static func isPayload(_ value: JSONValue, _ parser: JSONParser) -> Bool {
        guard value.isString else {
            do throws(PlatformError) {
                let payload = try Platforms.recognise(value, size: 0, parser: parser)
                return payload.platform != .unknown
            } catch {
                return false
            }
        }
        guard let inner = object(in: value, parser) else { return false }
        return isPayload(inner, parser)
    }
}
