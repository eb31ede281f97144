package import SignalboxJSON

/// The patterns of all routes as one: what an event matches is found in time that depends on the event and on what
/// matches, hardly on how many routes there are.
///
/// Every way of every pattern is a rule; equal ones are one. The event is walked once along the keys that some pattern
/// names, and what stands there is noted by its place. Each rule is filed under one of its fields, the most telling one:
/// an index leads from the field's value to the rules that ask for it, and what else these ask for is then compared
/// directly. Where an array holds what is asked for, rules that are found so are matched by
/// ``Pattern/Way/matches(_:)``, which keeps to one element.
///
/// A class because many tasks share one; nothing in it changes.
package final class RouteMatcher: Sendable {
    private let compiled: CompiledRules

    package init(_ patterns: [Pattern]) { compiled = CompiledRules(patterns) }

    /// The places of the patterns that match, in order. `namingType`: only by ways that ask for the event's `type`.
    /// `work`: adds to other work for the same event. Throws once the limit is exceeded.
    package func matches(
        of event: JSONValue, namingType: Bool = false, work: inout MatchWork
    ) throws(RoutingTooCostly) -> [Int] {
        guard event.isObject else { return [] }
        let found = withUnsafeTemporaryAllocation(of: Int32.self, capacity: RuleSearch.space(for: compiled)) { space in
            var search = RuleSearch(compiled, event, namingType: namingType, space)
            search.run(&work)
            return search.finish()
        }
        try work.check()
        return found
    }
}
