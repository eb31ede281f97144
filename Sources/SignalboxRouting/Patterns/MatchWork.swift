/// Counts the work of matching patterns against one event, so that no event takes more than a fixed amount.
///
/// A unit is a compared byte of text, a visited member or element, or an evaluated condition or rule. Once the limit
/// is exceeded, matching stops and its results are invalid; callers check first. Counting is deterministic: the same
/// event and routes always spend the same, on any machine. One value accompanies one event, on one task. An event
/// that exceeds the limit is never routed by a part of its rules: the intake rejects it with `payload-too-costly`.
package struct MatchWork: Sendable {
    /// Units for one event, over all routes. About 134 million. Senders choose the events, so the limit must hold for
    /// every event.
    package static let limit = 1 << 27

    /// Units spent so far.
    package private(set) var spent = 0
    /// Exceeding it by any amount makes the results invalid.
    private let limit: Int

    /// `limit`: units for one event. Starts with nothing spent.
    package init(limit: Int = Self.limit) { self.limit = limit }

    /// True if results are invalid.
    var isExceeded: Bool { spent > limit }

    /// Counts units of work, which may exceed the limit. Never traps and never throws, so hot loops can call it
    /// without a check.
    @inline(__always)
    mutating func spend(_ units: Int) { spent &+= units }

    /// Throws once the limit is exceeded. Called after a search, before its result is used.
    func check() throws(RoutingTooCostly) {
        if isExceeded { throw RoutingTooCostly() }
    }
}

/// Matching one event exceeds ``MatchWork/limit``, so the matching patterns are unknown.
package struct RoutingTooCostly: Error, Sendable, Equatable, CustomStringConvertible {
    /// For callers that count work of their own.
    package init() {}

    /// Part of the rejection `payload-too-costly` that senders receive.
    package var description: String {
        "deciding which routes match this event takes too much work: shorten its arrays and texts"
    }
}
