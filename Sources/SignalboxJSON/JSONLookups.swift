import Synchronization

/// Counts the members that lookups by a run-time key visit, so that tests can bound the work of a reader without
/// measuring time. Release builds count nothing.
@usableFromInline
package final class JSONLookups: Sendable {
    private let total = Atomic(0)

    /// Members visited so far.
    package var visited: Int { total.load(ordering: .relaxed) }

    #if DEBUG
        @TaskLocal private static var current: JSONLookups?
    #endif

    /// The members that `body` visits; 0 in a release build.
    package static func counting(_ body: () throws -> Void) rethrows -> Int {
        let lookups = JSONLookups()
        #if DEBUG
            try $current.withValue(lookups, operation: body)
        #else
            try body()
        #endif
        return lookups.visited
    }

    /// Adds the members of one lookup.
    @inlinable @inline(__always)
    static func count(_ members: Int) {
        #if DEBUG
            record(members)
        #endif
    }

    #if DEBUG
        @usableFromInline
        static func record(_ members: Int) { current?.total.wrappingAdd(members, ordering: .relaxed) }
    #endif
}
