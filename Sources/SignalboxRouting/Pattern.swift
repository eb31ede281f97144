import SignalboxJSON

/// An event pattern in Amazon EventBridge's language: a JSON object of the event's shape, whose leaves are arrays of
/// what the field may be. All fields must match, any entry of an array will do.
///
/// Known entries: exact strings, numbers, booleans and null, `prefix`, `suffix`, `anything-but`, `exists`. Numbers are
/// compared by value, so `1` matches `1.0`. Where the event has an array, an entry may match any element; several fields
/// of a pattern must match in the same element, save that `exists: false` speaks of the event as a whole.
/// Source: docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html, github.com/aws/event-ruler
package struct Pattern: Sendable, Equatable {
    let fields: [Field]

    struct Field: Sendable, Equatable {
        let key: [UInt8]
        let test: Test
    }

    indirect enum Test: Sendable, Equatable {
        case object([Field])
        case anyOf([Condition])
    }

    enum Condition: Sendable, Equatable {
        case string([UInt8])
        case integer(Int64)
        case number(Double)
        case bool(Bool)
        case null
        case prefix([UInt8])
        case suffix([UInt8])
        case anythingBut([Condition])
        /// There is a value, null included, that is no object.
        case exists
        /// Nowhere in the event is there such a value under these keys.
        case absent([[UInt8]])
    }

    /// Whether it asks for the event's `type`.
    var namesType: Bool { fields.contains { $0.key == Array("type".utf8) } }

    /// Matches every event.
    package static let everything = Pattern(fields: [])
}
