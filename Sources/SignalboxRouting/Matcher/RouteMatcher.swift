package import SignalboxJSON

/// The patterns of all routes, compiled into one index. Matching an event takes time that grows with the event and
/// with the rules found, hardly with the number of patterns.
///
/// Each alternative of a pattern is a rule; equal alternatives are one rule. A rule is filed under its most selective
/// field. To match an event, ``RuleSearch``
/// 1. walks the event once along a ``KeyTrie`` of all paths that patterns name, and records where their values are,
/// 2. looks up each value in the ``ValueIndex``, which leads to the rules filed under that field and value,
/// 3. evaluates the other fields of these rules, and adds the routes of each rule that matches.
///
/// Several fields of a rule must match within one element of an array. If the event has an array on a path of a rule,
/// the index finds the rule as above, and ``Pattern/Alternative/matches(_:_:)`` evaluates all of it.
///
/// A class because many tasks share it. Sendable because nothing changes after `init`; the pointers lead into `arena`.
package final class RouteMatcher: @unchecked Sendable {
    /// One alternative, and the patterns that have it.
    struct Rule: BitwiseCopyable {
        /// In ``Tables/fields``, in the order of the pattern.
        let fields: Run
        /// In ``Tables/routes``.
        let routes: Run
        /// Whether the alternative names the event's `type`.
        let namesType: Bool
    }

    /// The requirement of a rule at one path.
    struct Field: BitwiseCopyable {
        /// In ``Tables/trie``.
        let node: Int32
        /// One must match; if there are none, the event must have no value here.
        let conditions: Run
        /// The rule is filed under this field.
        let isIndexed: Bool
    }

    /// A condition as a search evaluates it. The most frequent ones have cases of their own, which is faster.
    enum Condition: BitwiseCopyable {
        /// The value is this string.
        case text(UnsafeBufferPointer<UInt8>)
        /// The value is not this string.
        case anythingButText(UnsafeBufferPointer<UInt8>)
        /// The value is there; a search has checked that before.
        case exists
        /// In ``RouteMatcher/conditions``.
        case other(Int32)
    }

    /// The data that a search reads for every event.
    struct Tables: BitwiseCopyable {
        /// The paths of all fields.
        let trie: KeyTrie
        /// Leads from values to rules.
        let index: ValueIndex
        let rules: UnsafeBufferPointer<Rule>
        let fields: UnsafeBufferPointer<Field>
        let conditions: UnsafeBufferPointer<Condition>
        /// Positions of patterns, a run for each rule.
        let routes: UnsafeBufferPointer<Int32>
        /// Rules that require no value and are evaluated for every event.
        let unindexed: UnsafeBufferPointer<Int32>
    }

    /// Owns the memory of the tables.
    private let arena: Arena
    /// Lives as long as `arena`, so a search must keep the matcher alive.
    let tables: UnsafePointer<Tables>
    /// Conditions that have no case of their own.
    let conditions: [Pattern.Condition]
    /// The alternative of each rule.
    let alternatives: [Pattern.Alternative]
    /// The path of each node of the trie.
    let paths: [[[UInt8]]]

    /// Compiles the patterns; their positions in the array identify them in results. Cannot fail: ``PatternReader``
    /// has bounded the patterns. Takes memory that grows with their total text.
    package init(_ patterns: [Pattern]) {
        let compiler = RuleCompiler(patterns)
        arena = compiler.arena
        tables = compiler.tables
        conditions = compiler.conditions
        alternatives = compiler.alternatives
        paths = compiler.numbering.paths
    }

    /// Returns the positions of the patterns that match, in order. `namingType`: only by alternatives that name the
    /// event's `type`. `work`: adds to other work for the same event. Throws once its limit is exceeded. Any number
    /// of tasks may call it at once. Returns an empty array for a value that is not an object.
    package func matches(
        of event: JSONValue, namingType: Bool = false, work: inout MatchWork
    ) throws(RoutingTooCostly) -> [Int] {
        guard event.isObject else { return [] }
        let found = withUnsafeTemporaryAllocation(of: Int32.self, capacity: RuleSearch.capacity(for: tables.pointee)) {
            memory in
            var search = RuleSearch(self, event, namingType: namingType, memory)
            return search.run(&work)
        }
        try work.check()
        return found
    }
}
