/// A name under `sources` of the config, or ``SourceName/default`` where the config has none.
package struct SourceName: Sendable, Hashable, CustomStringConvertible {
    package let name: String
    package init(_ name: String) { self.name = name }
    package var description: String { name }

    package static let `default` = SourceName("default")
}

/// What may be a name in the config, in an event's `source`, and in an address: 1 to 64 letters, digits, `-`, `_` or `.`.
package enum NameRule {
    package static let words = "a name is 1 to 64 letters, digits, '-', '_' or '.'"

    package static func allows(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            }
    }
}
