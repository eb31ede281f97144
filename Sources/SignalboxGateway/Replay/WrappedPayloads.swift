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

    /// The location of the payload in a text that is not a payload itself, at most three levels deep: Expo's
    /// listeners have it at `/request/trigger/payload` (docs.expo.dev, "Handle incoming notifications").
    private static func pointer(in text: UnsafeBufferPointer<UInt8>) -> String? {
        let parser = JSONParser()
        guard let root = try? parser.parse(text), root.isObject else { return nil }
        let best = best(in: root, levels: 3, parser)
        return best?.pointer.isEmpty == true ? nil : best?.pointer
    }

    /// The evidence that an object is a payload, the weakest first.
    private enum Form: Int, Comparable {
        /// It has strings only, as FCM's data.
        case texts
        /// It has blocks of a message to FCM. Dumps of vendors' plugins can have blocks of the same names
        /// (braze-react-native-sdk, PushPayloadMapper.kt, `android`; moengage/React-Native, `data`).
        case blocks
        /// It is a payload for APNs or the web, or a request to a push service.
        case whole
        /// A vendor recognises it.
        case claimed

        static func < (left: Form, right: Form) -> Bool { left.rawValue < right.rawValue }

        /// The weakest form of a member that makes this object a wrapping around it.
        var weakestMember: Form { self == .texts ? .whole : .claimed }
    }

    /// A payload in a text. The pointer leads from the object that was searched; it is empty for that object itself.
    private struct Place {
        let pointer: String
        let form: Form
    }

    /// The strongest payload in an object, or the object itself; of several, the first. Nil if there is none.
    /// Recursion is bounded by `levels`. In the last level strings alone are not enough: many objects have only these.
    private static func best(in object: JSONValue, levels: Int, _ parser: JSONParser) -> Place? {
        let own = form(of: object, parser)
        var best = own.map { Place(pointer: "", form: $0) }
        guard levels > 0, own ?? .texts < .whole else { return best }
        let weakest = own?.weakestMember ?? (levels == 1 ? .blocks : .texts)
        for (key, value) in object.members.prefix(mostMembers) where best?.form != .claimed {
            let inner = value.isObject ? self.best(in: value, levels: levels - 1, parser) : text(value, parser)
            guard let inner, inner.form >= weakest, best.map({ $0.form < inner.form }) ?? true else { continue }
            best = Place(pointer: pointer(to: key) + inner.pointer, form: inner.form)
        }
        return best
    }

    private static func pointer(to key: UnsafeBufferPointer<UInt8>) -> String {
        "/" + JSONPointer.escape(String(decoding: key, as: UTF8.self))
    }

    /// The payload whose JSON text a string is; nil for any other value.
    private static func text(_ text: JSONValue, _ parser: JSONParser) -> Place? {
        guard text.utf8?.first == UInt8(ascii: "{"), let inner = try? parser.parseText(in: text), inner.isObject
        else { return nil }
        return form(of: inner, parser).map { Place(pointer: "", form: $0) }
    }

    /// Every vendor that the gateway knows without a config.
    private static let chain = VendorChain()

    /// The form of a payload; nil for an object that has the form of none.
    private static func form(of object: JSONValue, _ parser: JSONParser) -> Form? {
        do throws(PlatformError) {
            let payload = try Platforms.recognise(object, size: 0, parser: parser)
            if chain.matches(for: payload).winner != nil { return .claimed }
            switch payload.envelope {
            case .other: return nil
            case .fcmExtras where object["notification"]?.isObject == true: return .blocks
            case .fcmData, .fcmExtras: return .texts
            case .fcmWrapper: return .blocks
            case .fcmV1: return object["message"]?.isObject == true ? .whole : .blocks
            case .apns, .apnsThroughFCM, .fcmLegacy, .adm, .webPush, .inApp: return .whole
            }
        } catch {
            return nil
        }
    }
}
