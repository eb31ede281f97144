import SignalboxJSON

/// Finds locations of a config in the texts of its files. Reads an object once for all members that are located by
/// their position in it.
struct ConfigPlaces {
    private let files: [ConfigText]
    /// The members to find, by their object and their position.
    private var members: [Object: [Int: Member]] = [:]

    /// The object of a member.
    private struct Object: Hashable {
        let file: Int
        let pointer: String

        /// `location`: of a member. Its pointer without the last token leads to the object.
        init(of location: ConfigLocation) {
            file = location.file
            // By bytes: a combining mark may follow the slash and make one character with it.
            let slash = location.pointer.utf8.lastIndex(of: UInt8(ascii: "/")) ?? location.pointer.startIndex
            pointer = String(location.pointer[..<slash])
        }
    }

    /// The bytes of a member: the key with its quotes; of an object or array only the opening bracket.
    private struct Member {
        let key: Range<Int>
        let value: Range<Int>
    }

    /// `locations`: those that ``range(of:)`` will find. `files`: all files of the config; must be JSON.
    init(of locations: [ConfigLocation], in files: [ConfigText]) {
        self.files = files
        var wanted: [Object: Set<Int>] = [:]
        for location in locations {
            if let position = location.member { wanted[Object(of: location), default: []].insert(position) }
        }
        for (object, positions) in wanted {
            members[object] = Self.members(of: object, at: positions, in: files[object.file].bytes)
        }
    }

    /// The bytes in the text of its file; nil when the text has no such value.
    func range(of location: ConfigLocation) -> Range<Int>? {
        let text = files[location.file].bytes
        if let position = location.member, let member = members[Object(of: location)]?[position],
            Self.isKey(member.key, of: location, in: text)
        {
            return location.isKey ? member.key : member.value
        }
        let place = JSONPosition(of: location.pointer, in: text)
        return location.isKey ? place?.key ?? place?.value : place?.value
    }

    /// False for the member of another object at the same pointer: keys of outer objects may repeat too. True for a
    /// key with an escape.
    private static func isKey(_ key: Range<Int>, of location: ConfigLocation, in text: [UInt8]) -> Bool {
        let name = text[key].dropFirst().dropLast()
        guard !name.contains(UInt8(ascii: "\\")) else { return true }
        return JSONPointer(location.pointer)?.tokens.last.map { name.elementsEqual($0.utf8) } ?? false
    }

    /// Reads the object up to the last of the positions. Empty if the pointer leads to another value.
    private static func members(of object: Object, at positions: Set<Int>, in text: [UInt8]) -> [Int: Member] {
        guard let bracket = JSONPosition(of: object.pointer, in: text)?.value,
            let start = token(from: bracket.lowerBound, in: text), text[start] == UInt8(ascii: "{")
        else { return [:] }
        var members: [Int: Member] = [:]
        var place = start + 1
        var position = 0
        while members.count < positions.count, let quote = token(from: place, in: text),
            text[quote] == UInt8(ascii: "\"")
        {
            let key = JSONPosition.whole(from: quote, in: text)
            guard let first = token(from: key.upperBound, in: text) else { break }
            let value = JSONPosition.whole(from: first, in: text)
            if positions.contains(position) {
                let isContainer = "{[".utf8.contains(text[first])
                members[position] = Member(key: key, value: isContainer ? first..<first + 1 : value)
            }
            place = value.upperBound
            position += 1
        }
        return members
    }

    /// The next byte that is not white space, a comma or a colon.
    private static func token(from start: Int, in text: [UInt8]) -> Int? {
        text[start...].firstIndex { $0 > 0x20 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ":") }
    }
}
