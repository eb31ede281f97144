/// A share of all events, chosen by a hash of their ids alone. The choice is always the same for an event, a larger
/// share includes a smaller one, and routes with equal shares choose the same events. A snoozed or replayed event has
/// an id of its own and is sampled anew.
package struct RouteSample: Sendable, Equatable {
    /// From 0 for no event to 1 for every event.
    package let share: Double

    /// Requires a share from 0 to 1.
    package init(share: Double) {
        precondition((0...1).contains(share), "A share is between 0 and 1.")
        self.share = share
    }

    /// Whether the sample includes the event with this id. Any string is an id; equal ids get equal answers on every
    /// node.
    package func takes(_ id: String) -> Bool { Self.position(of: id) < share }

    /// In [0, 1), uniform over ids: FNV-1a, finished by the last step of splitmix64 to mix its high bits.
    private static func position(of id: String) -> Double {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
        return Double(hash >> 11) / Double(1 << 53 as UInt64)
    }
}
