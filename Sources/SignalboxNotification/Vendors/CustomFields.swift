import SignalboxJSON

extension PushNotification {
    /// Fills ``custom`` with the parts of a payload that no reader consumed, and warns of values of wrong types.
    ///
    /// The members of `custom` are the app's own keys and values, and the rest of the vendor's and the push service's
    /// objects under the same path (`ab.att.width`, `aps.url-args`). Elements of lists are under their index. The
    /// rest of a request to FCM is under `fcm`, or under `gcm.request` if the app has a key `fcm`. A key that a more
    /// specific object overrides, as `android.data` overrides `data`, begins with `payload.`.
    ///
    /// `schema`: the keys that the vendor's reader consumes; nil if there is no vendor. `additions`: members that the
    /// vendor nests for the app. `prefix`: is removed from the app's own keys. `isConsumed`: further keys that the
    /// reader consumes. `replaced`: a value of the push service's keys that the vendor's value replaces; replaced texts
    /// are found by comparison.
    mutating func fillCustom(
        from payload: borrowing PlatformPayload, except schema: KeySchema? = nil,
        adding additions: [CustomFields.Addition] = [], stripping prefix: StaticString? = nil,
        isConsumed: CustomFields.Predicate = { _ in false }, keeping replaced: JSONValue? = nil
    ) {
        if schema != nil { keepReplaced(replaced, of: payload) }
        var fields = CustomFields(mayRepeat: !additions.isEmpty || prefix != nil || payload.fields.layers.count > 1)
        for addition in additions { fields.add(addition) }
        if let prefix { fields.add(payload, stripping: prefix) }
        let parser = payload.parser
        payload.fields.forEach { key, value in
            guard let expected = schema?[key] else {
                let isStripped = prefix.map { key.hasPrefix($0) && key.count > $0.utf8CodeUnitCount } ?? false
                if !isStripped, !isConsumed(key) { fields.add(key, value) }
                return
            }
            guard !expected.covers(value, in: parser) else { return }
            if expected.leavesRest(of: value, in: parser) { fields.addRest(of: value, key, expected, in: parser) }
            expected.forEachWrongType(in: value, parser) { wrong, type in
                warn(vendor.name + ".wrong-type", "Expected \(type.expectation).", at: wrong, in: parser)
            }
        }
        payload.fields.forEachOverridden { key, value in fields.add(overridden: key, value) }
        fields.add(platformRest: platformRest.take(), of: payload)
        custom = fields.text()
    }

    /// Fills ``custom`` with the parts of a payload that a reading by paths did not consume. `consumed`: sorted.
    /// `lifted`: objects that the vendor nests for the app; their members keep their own names, unless there is a
    /// namesake. An object that contains the vendor's keys themselves, such as FCM's `data`, is not lifted. Without
    /// ``platformRest``, a reading that keeps no replaced text leaves nothing of the push service's keys either: a
    /// reading only consumes more.
    mutating func fillCustom(
        from payload: borrowing PlatformPayload, without consumed: ConsumedValues,
        lifting lifted: [(prefix: [UInt8], object: JSONValue)]
    ) {
        let parser = payload.parser
        let layers = payload.fields.layers
        let lifted = lifted.filter { part in !layers.contains { $0.object.isSamePlace(as: part.object) } }
        let elsewhere = lifted.isEmpty ? consumed : consumed.sorted(with: lifted.map(\.object))
        var fields = CustomFields(mayRepeat: !lifted.isEmpty || layers.count > 1)
        for (prefix, object) in lifted {
            object.forEachMember { key, value in
                fields.add(restOf: value, without: consumed, in: parser) { $0.open(key, elseWith: prefix) }
            }
        }
        payload.fields.forEach { key, value in
            fields.add(restOf: value, without: elsewhere, in: parser) {
                $0.open(key, elseWith: CustomFields.payloadPrefix)
            }
        }
        payload.fields.forEachOverridden { key, value in
            fields.add(restOf: value, without: elsewhere, in: parser) {
                $0.open(made: CustomFields.payloadPrefix + key, elseWith: CustomFields.payloadPrefix)
            }
        }
        if platformRest != nil || consumed.hasReplacedTexts,
            let leftover = PlainReading.leftover(of: payload, DeviceBlock(of: payload), without: consumed)
        {
            fields.openPlatform(of: payload)
            leftover.write(in: parser, without: consumed, into: &fields.writer)
        }
        // Computed anew above, because the paths may lead into the push service's keys.
        platformRest = nil
        custom = fields.text()
    }
}

/// Writes the members of ``PushNotification/custom`` in the order of the calls. Without a member it allocates nothing.
struct CustomFields: ~Copyable {
    /// True for a key that a reader consumes.
    typealias Predicate = (UnsafeBufferPointer<UInt8>) -> Bool

    /// Members that a vendor nests in an object of its own, for the app. They keep their names. A key of the payload
    /// with the same name gets the prefix `payload.`, a second nested one the name of its object.
    enum Addition {
        /// One member: its name, its value and the name of its object.
        case member(StaticString, JSONValue?, of: StaticString)
        /// The members of an object, except the consumed ones.
        case members(JSONValue?, of: StaticString, except: Predicate = { _ in false })
    }

    /// The prefix of a key whose own name is taken.
    fileprivate static let payloadPrefix = Array("payload.".utf8)

    /// The object so far, without its closing brace; empty before the first member.
    fileprivate var writer = JSONWriter()
    /// The names written so far; nil if no name can repeat.
    private var names: MemberNames?

    /// `mayRepeat`: true if members come from several objects, or under changed names.
    init(mayRepeat: Bool) { names = mayRepeat ? MemberNames() : nil }

    /// The JSON object; nil without a member.
    consuming func text() -> JSONText? {
        guard !writer.isEmpty else { return nil }
        writer.endObject()
        return JSONText(writer)
    }

    // MARK: Names

    /// Writes a key for the next value, with the prefix, repeated as needed, if the name is taken.
    fileprivate mutating func open(_ key: UnsafeBufferPointer<UInt8>, elseWith prefix: [UInt8]) {
        guard names?.insert(key) != false else { return open(made: prefix + key, elseWith: prefix) }
        begin(key)
    }

    /// Writes a name that the reader made, with the prefix, repeated as needed, if the name is taken.
    fileprivate mutating func open(made name: [UInt8], elseWith prefix: [UInt8]) {
        let free = names?.insert(made: name, elseWith: prefix) ?? name
        free.withUnsafeBufferPointer { begin($0) }
    }

    /// Writes the key for the rest of the push service's keys.
    fileprivate mutating func openPlatform(of payload: borrowing PlatformPayload) {
        open(PlainReading.leftoverName(in: payload), elseWith: Array("push.".utf8))
    }

    /// Writes a key of the source; see `open(_:elseWith:)` for keys of a payload.
    private mutating func open(_ name: StaticString, elseWith prefix: [UInt8]) {
        open(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), elseWith: prefix)
    }

    /// Writes a key, and the opening brace before the first one.
    private mutating func begin(_ key: UnsafeBufferPointer<UInt8>) {
        if writer.isEmpty { writer.beginObject() }
        writer.key(utf8: key)
    }

    // MARK: Members

    /// Adds a key of the app.
    fileprivate mutating func add(_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
        open(key, elseWith: Self.payloadPrefix)
        writer.value(value)
    }

    /// Adds the rest of a value, unless nothing of it is left. `open` writes its key.
    @inline(__always)
    fileprivate mutating func add(
        restOf value: JSONValue, without consumed: ConsumedValues, in parser: JSONParser,
        open: (inout CustomFields) -> Void
    ) {
        let rest = consumed.rest(of: value, in: parser)
        if case .consumed = rest { return }
        open(&self)
        consumed.write(rest, of: value, in: parser, into: &writer)
    }

    /// Adds a key that a namesake in a more specific object of the payload overrides.
    fileprivate mutating func add(overridden key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
        open(made: Self.payloadPrefix + key, elseWith: Self.payloadPrefix)
        writer.value(value)
    }

    /// Adds the keys with a prefix, without it; a key keeps its prefix if the name is taken.
    fileprivate mutating func add(_ payload: borrowing PlatformPayload, stripping prefix: StaticString) {
        let length = prefix.utf8CodeUnitCount
        payload.fields.forEach { key, value in
            guard key.hasPrefix(prefix), key.count > length else { return }
            open(UnsafeBufferPointer(rebasing: key[length...]), elseWith: Array(key[..<length]))
            writer.value(value)
        }
    }

    /// Adds the rest of a value.
    fileprivate mutating func addRest(
        of value: JSONValue, _ key: UnsafeBufferPointer<UInt8>, _ expected: KeySchema.Value, in parser: JSONParser
    ) {
        open(key, elseWith: Self.payloadPrefix)
        expected.writeRest(of: value, in: parser, into: &writer)
    }

    /// Adds the rest of the push service's own keys.
    fileprivate mutating func add(platformRest rest: JSONText?, of payload: borrowing PlatformPayload) {
        guard let rest else { return }
        openPlatform(of: payload)
        writer.text(rest)
    }

    /// Adds nested members under their own names.
    fileprivate mutating func add(_ addition: Addition) {
        switch addition {
        case .member(let name, let value, let object):
            guard let value else { return }
            open(name, elseWith: Array("\(object).".utf8))
            writer.value(value)
        case .members(let container, let object, let isConsumed):
            let prefix = Array("\(object).".utf8)
            container?.forEachMember { key, value in
                guard !isConsumed(key) else { return }
                open(key, elseWith: prefix)
                writer.value(value)
            }
        }
    }
}
