import SignalboxJSON

/// What stands in a payload that no detector claimed: the app's own keys and values; and what nobody read within the
/// objects of the vendor and of the push service, under the same path (`ab.att.width`, `aps.url-args`). Elements of lists
/// stand under their index. What nobody read of a request to FCM stands under `fcm`, or `gcm.request` where the app has a
/// key of that name. A key of a namesake, as of one in `data` that `android.data` overrides, begins with `payload.`.
enum CustomFields {
    typealias Predicate = (UnsafeBufferPointer<UInt8>) -> Bool

    /// An object of all vendors' keys of a payload; nil when there are none.
    static func text(of payload: borrowing PlatformPayload, _ notification: inout PushNotification) -> JSONText? {
        var collector = Collector(mayRepeat: payload.fields.layers.count > 1)
        payload.fields.forEach { key, value in collector.add(key, value) }
        payload.fields.forEachHidden { key, value in collector.add(hidden: key, value) }
        collector.add(platformRest: notification.platformRest.take(), of: payload)
        return collector.text()
    }

    /// As above, where a shape says what is read; of what is of a wrong type the notification gets a warning.
    static func text(
        of payload: borrowing PlatformPayload, except shape: Shape, _ notification: inout PushNotification,
        adding additions: [Addition] = [], stripping prefix: StaticString? = nil,
        claiming claimed: Predicate = { _ in false }
    ) -> JSONText? {
        var collector = Collector(
            mayRepeat: !additions.isEmpty || prefix != nil || payload.fields.layers.count > 1)
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
        payload.fields.forEachHidden { key, value in collector.add(hidden: key, value) }
        collector.add(platformRest: notification.platformRest.take(), of: payload)
        return collector.text()
    }

    /// What a vendor keeps for the app inside an object of its own. Its members come first; a key of the payload that has
    /// a namesake among them is kept behind `payload.`, a second one of them behind the name of its object.
    enum Addition {
        /// One member, under its own name, and the object's.
        case member(StaticString, JSONValue?, of: StaticString)
        /// All members of an object that are not claimed.
        case members(JSONValue?, of: StaticString, except: Predicate = { _ in false })
    }
}

extension CustomFields {
    /// Writes members as they come, so that a payload without any costs nothing.
    struct Collector: ~Copyable {
        private var writer = JSONWriter()
        /// The names that were added, where one could come twice.
        private var names: JSONKeySet?
        /// Names that stand nowhere in the payload.
        private var made: Set<[UInt8]> = []

        /// `mayRepeat`: whether members come from several objects, or under other names than they have there.
        init(mayRepeat: Bool) { names = mayRepeat ? JSONKeySet() : nil }

        consuming func text() -> JSONText? {
            guard !writer.isEmpty else { return nil }
            writer.endObject()
            return JSONText(writer)
        }

        static let payloadPrefix = Array("payload.".utf8)
        private static let pushPrefix = Array("push.".utf8)

        mutating func add(_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
            open(key, elseBehind: Self.payloadPrefix)
            writer.value(value)
        }

        /// A key that a namesake in a more specific object of the payload overrides.
        mutating func add(hidden key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
            open(made: Self.payloadPrefix + key, elseBehind: Self.payloadPrefix)
            writer.value(value)
        }

        /// Writes a key for a value to come, with a prefix, and as often as it takes, where there is a namesake.
        private mutating func open(_ key: UnsafeBufferPointer<UInt8>, elseBehind prefix: [UInt8]) {
            let isMade = !made.isEmpty && made.contains(Array(key))
            guard !isMade, names?.insert(key) != false else { return open(made: prefix + key, elseBehind: prefix) }
            begin(key)
        }

        private mutating func open(made key: [UInt8], elseBehind prefix: [UInt8]) {
            var name = key
            while made.contains(name) || name.withUnsafeBufferPointer({ names?.contains($0) }) == true {
                name = prefix + name
            }
            name.withUnsafeBufferPointer { begin($0) }
            made.insert(name)
        }

        private mutating func begin(_ key: UnsafeBufferPointer<UInt8>) {
            if writer.isEmpty { writer.beginObject() }
            writer.key(utf8: key)
        }

        /// The keys behind a prefix, which is taken off; it stays where there is a namesake.
        mutating func add(_ payload: borrowing PlatformPayload, stripping prefix: StaticString) {
            payload.fields.forEach { key, value in
                guard key.hasPrefix(prefix), key.count > prefix.utf8CodeUnitCount else { return }
                open(
                    UnsafeBufferPointer(rebasing: key[prefix.utf8CodeUnitCount...]),
                    elseBehind: Array(key[..<prefix.utf8CodeUnitCount]))
                writer.value(value)
            }
        }

        /// What nobody read of a value.
        mutating func addRest(
            of value: JSONValue, _ key: UnsafeBufferPointer<UInt8>, _ expected: Shape.Value, in parser: JSONParser
        ) {
            open(key, elseBehind: Self.payloadPrefix)
            expected.writeRest(of: value, in: parser, into: &writer)
        }

        /// What the plain reading left of the push service's own keys.
        mutating func add(platformRest rest: JSONText?, of payload: borrowing PlatformPayload) {
            guard let rest else { return }
            openPlatform(of: payload)
            writer.text(rest)
        }

        /// As above, of which a vendor read something.
        mutating func addPlatform(_ payload: borrowing PlatformPayload, besides taken: CatalogueTaken) {
            guard let leftover = PlainReading.leftover(of: payload, besides: taken) else { return }
            openPlatform(of: payload)
            leftover.write(in: payload.parser, besides: taken, into: &writer)
        }

        private mutating func openPlatform(of payload: borrowing PlatformPayload) {
            let name = PlainReading.leftoverName(in: payload)
            open(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), elseBehind: Self.pushPrefix)
        }

        mutating func add(_ addition: Addition) {
            switch addition {
            case .member(let name, let value, let object):
                guard let value else { return }
                let key = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
                open(key, elseBehind: Array("\(object).".utf8))
                writer.value(value)
            case .members(let container, let object, let claimed):
                let prefix = Array("\(object).".utf8)
                container?.forEachMember { key, value in
                    guard !claimed(key) else { return }
                    open(key, elseBehind: prefix)
                    writer.value(value)
                }
            }
        }

        /// What a reading by paths left of a value. `isHidden`, `prefix`: as above.
        mutating func add(
            _ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue, leftBy taken: CatalogueTaken, in parser: JSONParser,
            isHidden: Bool = false, elseBehind prefix: [UInt8] = payloadPrefix
        ) {
            guard taken.leavesRest(of: value, in: parser) else { return }
            if isHidden { open(made: prefix + key, elseBehind: prefix) } else { open(key, elseBehind: prefix) }
            taken.writeRest(of: value, in: parser, into: &writer)
        }
    }
}
