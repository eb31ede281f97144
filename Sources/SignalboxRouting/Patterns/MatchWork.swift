/// The work of matching patterns against one event: counted, so that no event takes more than a fixed amount.
///
/// A unit is a byte of text that is compared, a member or element that is visited, a condition or a rule that is asked.
/// Once the limit is exceeded, matching stops and its answers mean nothing: callers check first.
package struct MatchWork: Sendable {
    /// Units for one event, all routes together.
    package static let limit = 1 << 27

    /// Units so far.
    package private(set) var spent = 0
    private let limit: Int

    package init(limit: Int = Self.limit) { self.limit = limit }

    var isExceeded: Bool { spent > limit }

    @inline(__always)
    mutating func spend(_ units: Int) { spent &+= units }

    /// Fails once the limit is exceeded.
    func check() throws(RoutingTooCostly) {
        if isExceeded { throw RoutingTooCostly() }
    }
}

/// Matching one event exceeds ``MatchWork/limit``: which patterns match is not known.
package struct RoutingTooCostly: Error, Sendable, Equatable, CustomStringConvertible {
    package init() {}

    package var description: String {
        "deciding which routes match this event takes too much work: shorten its arrays and texts"
    }
}
