import SignalboxJSON

/// What a reading has taken of a payload, so that the rest can be kept.
struct CatalogueTaken {
    private var values: [JSONValue] = []
    /// Texts of the push service's block that the vendor's texts replace.
    private var replaced: [JSONValue] = []

    mutating func insert(_ value: JSONValue) { values.append(value) }

    mutating func insert(all more: [JSONValue]) { values += more }

    /// These values and others, sorted for lookups.
    static func sorted(_ taken: CatalogueTaken?, and others: [JSONValue]) -> CatalogueTaken {
        var union = taken ?? CatalogueTaken()
        union.insert(all: others)
        union.sort()
        return union
    }

    /// Keeps a text of the push service's block, which otherwise counts as read.
    mutating func keep(_ text: JSONValue) { replaced.append(text) }

    var keepsReplacedTexts: Bool { !replaced.isEmpty }

    func isReplaced(_ value: JSONValue) -> Bool { replaced.contains { $0.isSamePlace(as: value) } }

    /// What is left: the members of the objects that the vendor keeps for the app under their own names, all else under
    /// the path where it stood. Elements of lists stand under their index. Nil when nothing is left.
    func rest(of payload: borrowing PlatformPayload, lifting paths: CataloguePaths) -> JSONText? {
        let parser = payload.parser
        var lifted: [(path: CataloguePath, object: JSONValue)] = []
        for path in paths {
            let value = payload.value(at: path)
            if let object = value.flatMap({ parser.container($0) }), object.isObject { lifted.append((path, object)) }
        }
        var here = self
        here.sort()
        var elsewhere = here
        for (_, object) in lifted { elsewhere.insert(object) }
        elsewhere.sort()
        var collector = CustomFields.Collector(mayRepeat: !lifted.isEmpty || payload.fields.layers.count > 1)
        for (path, object) in lifted {
            let prefix = path.dotted
            object.forEachMember { key, value in
                collector.add(key, value, leftBy: here, in: parser, elseBehind: prefix)
            }
        }
        payload.fields.forEach { key, value in collector.add(key, value, leftBy: elsewhere, in: parser) }
        payload.fields.forEachHidden { key, value in
            collector.add(key, value, leftBy: elsewhere, in: parser, isHidden: true)
        }
        collector.addPlatform(payload, besides: here)
        return collector.text()
    }

    // MARK: One value

    private enum State {
        case taken, whole
        /// Something of this object or list was taken.
        case part(JSONValue)
    }

    private mutating func sort() { values.sort { $0.precedes($1) } }

    private func state(of value: JSONValue, in parser: JSONParser) -> State {
        if let first = firstTaken(within: value) {
            return first.isSamePlace(as: value) ? .taken : .part(value)
        }
        guard let opened = parser.opened(value), let first = firstTaken(within: opened) else { return .whole }
        return first.isSamePlace(as: opened) ? .taken : .part(opened)
    }

    private func firstTaken(within value: JSONValue) -> JSONValue? {
        var low = 0
        var high = values.count
        while low < high {
            let middle = (low + high) / 2
            if values[middle].precedes(value) { low = middle + 1 } else { high = middle }
        }
        return low < values.count && value.contains(values[low]) ? values[low] : nil
    }

    /// True when something of a value has to be kept.
    func leavesRest(of value: JSONValue, in parser: JSONParser) -> Bool {
        switch state(of: value, in: parser) {
        case .taken: false
        case .whole: true
        case .part(let container):
            container.members.contains { leavesRest(of: $1, in: parser) }
                || container.elements.contains { leavesRest(of: $0, in: parser) }
        }
    }

    /// Writes what is left of a value that leaves something.
    func writeRest(of value: JSONValue, in parser: JSONParser, into json: inout JSONWriter) {
        guard case .part(let container) = state(of: value, in: parser) else { return json.value(value) }
        json.beginObject()
        container.forEachMember { key, member in
            guard leavesRest(of: member, in: parser) else { return }
            json.key(utf8: key)
            writeRest(of: member, in: parser, into: &json)
        }
        for (position, element) in container.elements.enumerated() where leavesRest(of: element, in: parser) {
            json.key(String(position))
            writeRest(of: element, in: parser, into: &json)
        }
        json.endObject()
    }
}

extension CataloguePath {
    /// Its keys, for the name of a member that has a namesake: `custom.a.`
    fileprivate var dotted: [UInt8] {
        tokens.flatMap { token -> [UInt8] in
            if case .key(let key) = token { key + [UInt8(ascii: ".")] } else { [] }
        }
    }
}
