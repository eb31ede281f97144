extension GatewayConfig {
    /// How many pushes to the provider endpoints the gateway keeps in memory for tests and operators.
    package struct Captures: Sendable, Equatable {
        /// The most pushes; 0 for none.
        package var count = 10_000
        /// About the most memory.
        package var bytes = 64 * 1024 * 1024

        /// The defaults.
        package init() {}

        /// Beyond the bound on bytes, refused pushes leave first, because they have no event.
        static let options = Section(Captures()) {
            Option(
                "count", \.count, .whole(0...100_000),
                "Largest number of pushes to the provider endpoints that `GET /v1/captures` shows; 0 keeps none.")
            Option("bytes", \.bytes, .size((64 * 1024)...(1 << 30), example: "64MiB"), "Largest memory that they take.")
        }
    }
}
