package import SignalboxNotification

extension GatewayConfig {
    /// What the config says of sets of buttons.
    package struct Categories: Sendable, Equatable {
        /// Those that the app compiled in.
        package var statics = StaticCategories()
        /// How long one that payloads define is kept after it was last seen.
        package var age: Duration = .seconds(90 * 86_400)
        /// How many of those are kept, those that were seen last.
        package var count = 1000

        package init() {}
    }
}
