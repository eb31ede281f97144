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

    /// The remedy as one sentence; nil unless most of the examined texts have their payload in the same place.
    var advice: String? {
        let found = found.withLock { $0 }
        let all = found.values.reduce(0, +)
        guard let place = found.first(where: { !$0.key.isEmpty && $0.value * 2 > all }) else { return nil }
        return "Warning: the payloads seem to be at \(place.key) of the recorded texts. Add --payload-at \(place.key)."
    }

    /// The place of the payload in a text that is none itself, at most two levels deep.
    private static func pointer(in text: UnsafeBufferPointer<UInt8>) -> String? {
        let parser = JSONParser()
        guard let root = try? parser.parse(text), root.isObject, !isPayload(root, parser) else { return nil }
        for (key, value) in root.members.prefix(mostMembers) {
            let pointer = "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
            if isPayload(value, parser) { return pointer }
            for (key, value) in value.members.prefix(mostMembers) where isPayload(value, parser) {
                return pointer + "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
            }
        }
        return nil
    }

    /// Whether an object, or the JSON text of one, is in the envelope of a push service.
    private static func isPayload(_ value: JSONValue, _ parser: JSONParser) -> Bool {
        guard let text = value.utf8 else {
            do throws(PlatformError) {
                let payload = try Platforms.recognise(value, size: 0, parser: parser)
                return payload.platform != .unknown
            } catch {
                return false
            }
        }
        guard text.first == UInt8(ascii: "{"), let inner = try? parser.parseText(in: value), inner.isObject
        else { return false }
        return isPayload(inner, parser)
    }
}
