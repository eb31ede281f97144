import SignalboxJSON

/// An event pattern in Amazon EventBridge's language: a JSON object of the event's shape, whose leaves are arrays of
/// what the field may be. All fields must match, any entry of an array will do.
///
/// Known entries: exact strings, numbers, booleans and null, `prefix`, `suffix`, `anything-but`, `exists`.
/// Source: docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
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
        case number(Double)
        case bool(Bool)
        case null
        case prefix([UInt8])
        case suffix([UInt8])
        case anythingBut([Condition])
        case exists(Bool)
    }

    /// Matches every event.
    package static let everything = Pattern(fields: [])
}
