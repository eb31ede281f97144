/// Which devices a message to topics reaches: what the `condition` of an FCM request says, as a tree.
///
/// `&&` and `||` bind alike and group from left to right (firebase.google.com, "Send messages to topics").
package indirect enum TopicCondition: Sendable, Equatable {
    case topic(String)
    case not(TopicCondition)
    case all(TopicCondition, TopicCondition)
    case any(TopicCondition, TopicCondition)

    /// The shortest spelling that FCM reads as this tree.
    package var text: String {
        switch self {
        case .topic(let name): "'\(name)' in topics"
        case .not(let inner): "!" + inner.grouped
        case .all(let left, let right): left.text + " && " + right.operand
        case .any(let left, let right): left.text + " || " + right.operand
        }
    }

    /// True when devices with this topic are left out: the topic stands under an odd number of `!`.
    package func leavesOut(_ name: String) -> Bool { contains(name, negated: true) }

    private func contains(_ name: String, negated: Bool) -> Bool {
        switch self {
        case .topic(let own): !negated && own == name
        case .not(let inner): inner.contains(name, negated: !negated)
        case .all(let left, let right), .any(let left, let right):
            left.contains(name, negated: negated) || right.contains(name, negated: negated)
        }
    }

    /// The left side needs no parentheses, the right side does.
    private var operand: String {
        switch self {
        case .topic, .not: text
        case .all, .any: "(" + text + ")"
        }
    }

    /// Google writes `!` before a group only.
    private var grouped: String {
        if case .not = self { text } else { "(" + text + ")" }
    }
}
