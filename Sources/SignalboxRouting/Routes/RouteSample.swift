/// Which of many events a route takes. The same event is always in or always out, whoever asks and how often.
package struct RouteSample: Sendable, Equatable {
    /// From 0, none, to 1, all.
    package let share: Double

    package init(share: Double) {
        precondition((0...1).contains(share), "A share is a part of a whole.")
        self.share = share
    }

    /// By a digest of the id alone: what a small share takes, a larger one takes too, and routes of equal shares take the
    /// same events.
    package func takes(_ id: String) -> Bool { Self.position(of: id) < share }

    /// In [0, 1), even over ids: FNV-1a, whose high bits splitmix64's last step makes depend on all of the text.
    private static func position(of id: String) -> Double {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
        return Double(hash >> 11) / Double(1 << 53 as UInt64)
    }
}
