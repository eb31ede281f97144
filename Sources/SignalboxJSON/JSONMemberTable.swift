/// The members of large objects by their keys, for many lookups of similar keys: the first lookup visits every member,
/// later lookups visit none. Valid as long as the values of its parser.
package final class JSONMemberTable {
    // A class because all lookups of one reading share it.
    /// An object, and the beginning of the keys in its table.
    private struct Part: Hashable {
        let tape: UnsafePointer<UInt64>
        let index: Int
        let prefix: [UInt8]
    }

    /// Up to this many members, a search is faster than a table.
    private static let few = 256
    private var tables: [Part: [JSONKeyBytes: JSONValue]] = [:]

    /// The empty table.
    package init() {}

    /// The member of an object with a key; see ``JSONValue/subscript(_:)``. `prefix`: the beginning of the key that
    /// later lookups share; each prefix of an object costs one visit of its members.
    package func member(_ key: [UInt8], sharing prefix: [UInt8], of object: JSONValue) -> JSONValue? {
        key.withUnsafeBufferPointer { key in
            guard object.memberCount > Self.few else { return object.member(key) }
            let part = Part(tape: object.tape, index: object.index, prefix: prefix)
            if let table = tables[part] { return table[JSONKeyBytes(bytes: key)] }
            var table: [JSONKeyBytes: JSONValue] = [:]
            var visited = 0
            for (name, value) in object.members {
                visited += 1
                if name.starts(with: prefix) { table[JSONKeyBytes(bytes: name)] = value }
            }
            JSONLookups.count(visited)
            tables[part] = table
            return table[JSONKeyBytes(bytes: key)]
        }
    }
}
