extension GatewayConfig {
    /// How much one source may use of the provider endpoints at the same time. Nil for no limit of its own.
    package struct SourceLimits: Sendable, Equatable {
        /// Open connections on which the source has proved its identity.
        package var connections: Int?
        /// Requests in progress, over all connections.
        package var streams: Int?
        /// Pushes in a second, with bursts of one second's worth.
        package var pushesPerSecond: Int?

        /// No limits by default.
        package init(connections: Int? = nil, streams: Int? = nil, pushesPerSecond: Int? = nil) {
            (self.connections, self.streams, self.pushesPerSecond) = (connections, streams, pushesPerSecond)
        }

        /// Each gateway applies them on its own, even if several share a store.
        static let options = Section(SourceLimits()) {
            Option(
                "connections", \.connections, .whole(1...1_000_000),
                "Largest number of connections to the listener for providers.")
            Option("streams", \.streams, .whole(1...1_000_000), "Largest number of requests in progress.")
            Option(
                "pushesPerSecond", \.pushesPerSecond, .whole(1...1_000_000),
                "Largest number of pushes in a second. Each message of a batch counts.")
        }
    }
}
