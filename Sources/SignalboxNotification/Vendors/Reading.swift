import SignalboxJSON

// What every reader needs: warnings that stay few, lists that stay short, places in the payload.

/// More elements than this of any list are not read; no screen shows as many.
let longestList = 1000

extension PushNotification {
    /// Notes what is wrong with a value.
    mutating func warn(_ code: String, _ message: String, at value: JSONValue, in parser: JSONParser) {
        guard warnings.count < Self.mostWarnings else { return }
        warnings.append(Warning(code, at: parser.pointer(to: value), message))
    }

    /// Notes what is wrong with a key that an object lacks, or should not have.
    mutating func warn(
        _ code: String, _ message: String, key: String, of object: JSONValue, in parser: JSONParser
    ) {
        guard warnings.count < Self.mostWarnings else { return }
        warnings.append(Warning(code, at: parser.pointer(to: object) + "/" + JSONPointer.escape(key), message))
    }

    typealias BoundedList = PrefixSequence<JSONValue.Elements>

    /// The first elements of a list, with a warning when there are more than are read; nil when it is no list.
    mutating func bounded(_ list: JSONValue?, _ code: String, in parser: JSONParser) -> BoundedList? {
        guard let list, list.isArray else { return nil }
        if list.elements.dropFirst(longestList).contains(where: { _ in true }) {
            warn(code, "Only the first \(longestList) elements are read.", at: list, in: parser)
        }
        return list.elements.prefix(longestList)
    }

    /// Adds a picture, sound or film, and says at which index of ``media`` it stands.
    mutating func add(_ url: JSONValue?, as role: Media.Role, contentType: String? = nil) -> Int? {
        guard let url = url?.text else { return nil }
        media.append(Media(url: url, role: role, contentType: contentType))
        return media.count - 1
    }
}

extension VendorFields {
    /// The object in which a key stands that ``subscript(_:)`` finds.
    func object(with key: StaticString) -> JSONValue? {
        layers.first { $0.contents[key] != nil }?.object
    }
}
