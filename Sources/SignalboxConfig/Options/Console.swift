extension GatewayConfig {
    /// The recent events that operators see.
    package struct Console: Sendable, Equatable {
        /// The most events that the gateway keeps in memory for its live view; 0 for none.
        package var recent = 1_000

        /// The defaults.
        package init() {}

        static let options = Section(Console()) {
            Option(
                "recent", \.recent, .whole(0...10_000),
                "Largest number of recent events in memory, for `GET /v1/stream` and the console; they take 32 MiB at most. 0 keeps none."
            )
        }
    }
}
