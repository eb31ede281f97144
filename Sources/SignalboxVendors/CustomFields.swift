import SignalboxJSON
import SignalboxModel

/// What stands in a payload that no detector claimed: the app's own keys and values.
enum CustomFields {
    typealias Predicate = (UnsafeBufferPointer<UInt8>) -> Bool

    /// An object of all vendors' keys of a payload; nil when there are none.
    static func text(of payload: borrowing PlatformPayload) -> JSONText? {
        text(of: payload) { _ in false }
    }

    /// An object of the keys that are not claimed; nil when none is left. Members of `additions` come first and hide
    /// namesakes.
    static func text(
        of payload: borrowing PlatformPayload, adding additions: [Addition] = [], except claimed: Predicate
    ) -> JSONText? {
        var collector = Collector(mayRepeat: !additions.isEmpty)
        for addition in additions { collector.add(addition) }
        payload.fields.forEach { key, value in
            if !claimed(key) { collector.add(key, value) }
        }
        return collector.text()
    }

    /// As above, where the vendor marks the app's own keys with a prefix, which is taken off.
    static func text(
        of payload: borrowing PlatformPayload, stripping prefix: StaticString, except claimed: Predicate
    ) -> JSONText? {
        var collector = Collector(mayRepeat: true)
        payload.fields.forEach { key, value in
            guard key.hasPrefix(prefix), key.count > prefix.utf8CodeUnitCount else { return }
            collector.add(UnsafeBufferPointer(rebasing: key[prefix.utf8CodeUnitCount...]), value)
        }
        payload.fields.forEach { key, value in
            if !key.hasPrefix(prefix), !claimed(key) { collector.add(key, value) }
        }
        return collector.text()
    }

    /// What a vendor keeps for the app inside an object of its own.
    enum Addition {
        /// One member under this name.
        case member(StaticString, JSONValue?)
        /// All members of an object that are not claimed.
        case members(JSONValue?, except: Predicate)
    }
}

extension CustomFields {
    /// Writes members as they come, so that a payload without any costs nothing.
    private struct Collector: ~Copyable {
        private var writer = JSONWriter()
        /// The names that were added, where one could come twice.
        private var names: JSONKeySet?

        /// `mayRepeat`: whether members come from several objects, or under other names than they have there.
        init(mayRepeat: Bool) { names = mayRepeat ? JSONKeySet() : nil }

        consuming func text() -> JSONText? {
            guard !writer.isEmpty else { return nil }
            writer.endObject()
            return JSONText(writer)
        }

        mutating func add(_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
            guard names?.insert(key) != false else { return }
            if writer.isEmpty { writer.beginObject() }
            writer.key(utf8: key)
            writer.value(value)
        }

        mutating func add(_ addition: Addition) {
            switch addition {
            case .member(let name, let value):
                guard let value else { return }
                add(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value)
            case .members(let object, let claimed):
                object?.forEachMember { key, value in
                    if !claimed(key) { add(key, value) }
                }
            }
        }
    }
}
