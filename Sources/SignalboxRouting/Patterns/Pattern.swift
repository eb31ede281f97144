import SignalboxJSON
import SignalboxNotification

/// An event pattern in Amazon EventBridge's language: a JSON object of the event's shape, whose leaves are arrays of
/// what the field may be. All fields must match; one entry of each array is enough.
///
/// What decides is AWS's open-source implementation, Event Ruler (github.com/aws/event-ruler), where EventBridge's
/// documentation says something else or nothing: docs/decisions/0020-event-patterns-as-ruler-decides-them.md lists it.
/// Source: docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
package struct Pattern: Sendable, Hashable {
    /// The ways on which it can match: one, or as many as its `$or`s make when they are multiplied out.
    let ways: [Way]

    /// Fields that must all match.
    struct Way: Sendable, Hashable {
        /// As written.
        let fields: [Field]
        /// The same fields as a tree over the event.
        let root: Node

        init(_ fields: [Field]) {
            self.fields = fields
            root = Node(of: fields)
        }

        /// Whether it asks for the event's `type`.
        var namesType: Bool { fields.contains { $0.path.first == Array("type".utf8) } }
    }

    struct Field: Sendable, Hashable {
        let path: [[UInt8]]
        /// One of them must match; without any, there must be no value under this path.
        let conditions: [Condition]

        var isAbsence: Bool { conditions.isEmpty }
    }

    /// What one entry of an array says about a value.
    enum Condition: Sendable, Hashable {
        case string([UInt8])
        /// As a double; `-0` is `0`.
        case number(Double)
        /// A whole number that no double holds: only the same one matches.
        case wide(Int128)
        case bool(Bool)
        case null
        /// A text that is an address of this block.
        case address(AddressRange)
        case prefix([UInt8])
        case suffix([UInt8])
        case equalsIgnoringCase(CaseVariants)
        case prefixIgnoringCase(CaseVariants)
        case suffixIgnoringCase(CaseVariants)
        case wildcard(Wildcard)
        /// A number whose ``PatternNumber/key(_:)`` lies in here.
        case range(ClosedRange<UInt64>)
        /// Any value that the exclusion does not contain.
        case anythingBut(Exclusion)
        /// Any value, null included.
        case exists
    }

    /// Matches every event.
    package static let everything = Pattern(ways: [Way([])])
}
