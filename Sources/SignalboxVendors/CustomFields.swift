import SignalboxJSON
import SignalboxModel

/// What stands in a payload that no detector claimed: the app's own keys and values; and what nobody read within the
/// objects of the vendor and of the push service, under the same path (`ab.att.width`, `aps.url-args`). Elements of lists
/// stand under their index. What nobody
/// read of a request to FCM stands under `fcm`, or `gcm.request` where the app has a key of that name.
enum CustomFields {
    typealias Predicate = (UnsafeBufferPointer<UInt8>) -> Bool

    /// An object of all vendors' keys of a payload; nil when there are none.
    static func text(of payload: borrowing PlatformPayload) -> JSONText? {
        text(of: payload) { _ in false }
    }

    /// An object of the keys that are not claimed; nil when none is left. Members of `additions` come first and hide
    /// namesakes. `withPlatform`: whether to add what nobody read of the push service's own keys.
    static func text(
        of payload: borrowing PlatformPayload, adding additions: [Addition] = [], withPlatform: Bool = true,
        except claimed: Predicate
    ) -> JSONText? {
        var collector = Collector(mayRepeat: !additions.isEmpty)
        for addition in additions { collector.add(addition) }
        payload.fields.forEach { key, value in
            if !claimed(key) { collector.add(key, value) }
        }
        if withPlatform { collector.addPlatform(payload) }
        return collector.text()
    }

    /// What nobody read of the push service's own keys.
    static func text(of leftover: PlainReading.Leftover, in parser: JSONParser) -> JSONText? {
        var collector = Collector(mayRepeat: false)
        collector.add(leftover, in: parser)
        return collector.text()
    }

    /// As above, where a shape says what is read; of what is of a wrong type the notification gets a warning.
    static func text(
        of payload: borrowing PlatformPayload, except shape: Shape, _ notification: inout PushNotification,
        adding additions: [Addition] = [], stripping prefix: StaticString? = nil,
        claiming claimed: Predicate = { _ in false }
    ) -> JSONText? {
        var collector = Collector(mayRepeat: !additions.isEmpty || prefix != nil)
        for addition in additions { collector.add(addition) }
        if let prefix { collector.add(payload, stripping: prefix) }
        let parser = payload.parser
        payload.fields.forEach { key, value in
            guard let expected = shape[key] else {
                let isStripped = prefix.map { key.hasPrefix($0) && key.count > $0.utf8CodeUnitCount } ?? false
                if !isStripped, !claimed(key) { collector.add(key, value) }
                return
            }
            guard !expected.covers(value, in: parser) else { return }
            if expected.leavesRest(of: value, in: parser) { collector.addRest(of: value, key, expected, in: parser) }
            expected.forEachWrongType(in: value, parser) { wrong, type in
                notification.warn(
                    notification.vendor.name + ".wrong-type", "Here should stand \(type.words).", at: wrong, in: parser)
            }
        }
        // The plain reading has kept what there is, so that most payloads are not looked through again.
        if notification.custom != nil { collector.addPlatform(payload) }
        return collector.text()
    }

    /// As above, where the vendor marks the app's own keys with a prefix, which is taken off.
    static func text(
        of payload: borrowing PlatformPayload, stripping prefix: StaticString, except claimed: Predicate
    ) -> JSONText? {
        var collector = Collector(mayRepeat: true)
        collector.add(payload, stripping: prefix)
        payload.fields.forEach { key, value in
            if !key.hasPrefix(prefix), !claimed(key) { collector.add(key, value) }
        }
        collector.addPlatform(payload)
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

        /// The keys behind a prefix, which is taken off.
        mutating func add(_ payload: borrowing PlatformPayload, stripping prefix: StaticString) {
            payload.fields.forEach { key, value in
                guard key.hasPrefix(prefix), key.count > prefix.utf8CodeUnitCount else { return }
                add(UnsafeBufferPointer(rebasing: key[prefix.utf8CodeUnitCount...]), value)
            }
        }

        /// What nobody read of a value.
        mutating func addRest(
            of value: JSONValue, _ key: UnsafeBufferPointer<UInt8>, _ expected: Shape.Value, in parser: JSONParser
        ) {
            guard names?.insert(key) != false else { return }
            if writer.isEmpty { writer.beginObject() }
            writer.key(utf8: key)
            expected.writeRest(of: value, in: parser, into: &writer)
        }

        /// What nobody read of the push service's own keys.
        mutating func addPlatform(_ payload: borrowing PlatformPayload) {
            if let leftover = PlainReading.leftover(of: payload) { add(leftover, in: payload.parser) }
        }

        mutating func add(_ leftover: PlainReading.Leftover, in parser: JSONParser) {
            let name = leftover.name
            let key = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            guard names?.insert(key) != false else { return }
            if writer.isEmpty { writer.beginObject() }
            writer.key(utf8: key)
            writer.beginObject()
            leftover.shape.writeRest(of: leftover.object, in: parser, into: &writer)
            leftover.request?.forEachMember { key, value in
                guard !key.equals("message") else { return }
                writer.key(utf8: key)
                writer.value(value)
            }
            writer.endObject()
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
