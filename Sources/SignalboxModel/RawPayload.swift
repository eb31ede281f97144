package import Foundation

/// A payload as it came, before anyone has looked into it.
package struct RawPayload: Sendable {
    /// Who handed it in.
    package var source: SourceName
    /// When the gateway got hold of it.
    package var receivedAt: Date
    /// Where in its batch or file it stood.
    package var place: Place
    package var body: [UInt8]

    package init(source: SourceName, receivedAt: Date, place: Place = Place(), body: [UInt8]) {
        self.source = source
        self.receivedAt = receivedAt
        self.place = place
        self.body = body
    }
}

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

/// A position in an input.
package struct Place: Sendable, Equatable {
    /// From 1.
    package var line: Int
    /// Bytes, from 0.
    package var offset: Int

    package init(line: Int = 1, offset: Int = 0) {
        self.line = line
        self.offset = offset
    }
}

/// Why a payload was not taken.
package struct Rejection: Error, Sendable, Equatable {
    /// Stable, for programs.
    package let code: Code
    /// One sentence for a person: what, where, what to do.
    package let message: String
    package let place: Place

    package enum Code: String, Sendable, CaseIterable {
        case empty = "payload-empty"
        case notJSON = "payload-not-json"
        case invalidUTF8 = "payload-not-utf8"
        case invalidNumber = "payload-number-invalid"
        case tooDeep = "payload-too-deep"
        case tooLarge = "payload-too-large"
        case truncated = "payload-truncated"
        case notAnObject = "payload-not-an-object"
    }

    package init(_ code: Code, at place: Place, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }
}
