extension GatewayConfig {
    /// Accepted payloads as operators see them.
    package struct Console: Sendable, Equatable {
        /// The most events that the gateway keeps in memory for its live view; 0 for none.
        package var recent = 1_000

        /// The payloads that the queue keeps for operators.
        package var keepPayloads = KeptPayloads.none

        /// The payloads to keep, in addition to those that a destination receives.
        package enum KeptPayloads: String, Sendable, CaseIterable {
            /// Only those that a destination receives.
            case none
            /// Those of events whose deliveries wait or are dead.
            case dead
            /// All.
            case all
        }

        /// A change of `keepPayloads` concerns later events only.
        static let options = Section(Console()) {
            Option(
                "recent", \.recent, .whole(0...10_000),
                "Largest number of recent events in memory, for `GET /v1/stream` and the console; they take 32 MiB at most. 0 keeps none."
            )
            Option(
                "keepPayloads", \.keepPayloads, .choice(expected: "this must be \"none\", \"dead\" or \"all\""),
                "Payloads that the queue keeps, with device tokens, for `GET /v1/events/{id}/payload`: `all` as long as their events, `dead` until every delivery of the event has been delivered or has expired, `none` only those that a destination receives."
            )
        }
    }
}
