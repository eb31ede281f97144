package import SignalboxJSON

// Retries, pauses and the order of deliveries.

extension Destination {
    /// When to stop sending to a destination that keeps failing.
    package struct Breaker: Sendable, Equatable {
        /// Consecutive failures (no response, or 5xx) that open the breaker.
        package var failures = 20
        /// The wait before the one attempt that may close it.
        package var probe: Duration = .seconds(30)
    }

    /// Sends deliveries with equal keys one after the other.
    package struct Ordering: Sendable, Equatable {
        /// A pointer into the event; nil for its `subject`.
        package var key: JSONPointer?

        /// Nil orders by the `subject` of events.
        package init(key: JSONPointer? = nil) { self.key = key }
    }

    /// Exponential backoff with full jitter: before attempt n+1 a random wait up to min(max, base · 2ⁿ⁻¹).
    package struct Retry: Sendable, Equatable {
        /// Includes the first attempt; 1 to 100.
        package var attempts: Int
        /// The longest wait before the first retry.
        package var base: Duration
        /// The longest wait before any retry; not shorter than ``base``.
        package var max: Duration

        /// The defaults are those of a destination's `retry`. Does not check the values.
        package init(attempts: Int = 12, base: Duration = .seconds(5), max: Duration = .seconds(6 * 3600)) {
            (self.attempts, self.base, self.max) = (attempts, base, max)
        }
    }
}

// MARK: Options

extension Destination.Retry {
    /// `usual`: the defaults, which differ between deliveries and downloads.
    static func options(default usual: Destination.Retry) -> Section<Destination.Retry> {
        Section(usual) {
            Option("attempts", \.attempts, .whole(1...100), "Attempts, including the first.")
            Option(
                "base", \.base, .duration(from: "1ms", to: "1d", example: "5s"), "Longest wait before the first retry.")
            Option(
                "max", \.max, .duration(from: "1ms", to: "7d", example: "6h"),
                "Longest wait before any retry, not shorter than `base`.")
        } check: { retry, value, reader in
            guard retry.max < retry.base, reader.mistaken.isDisjoint(with: ["base", "max"]) else { return }
            reader.note(
                value, "\"max\", \(retry.max.text), is shorter than \"base\", \(retry.base.text); make it longer")
        }
    }
}

extension Destination.Breaker {
    /// Every destination has a breaker; the options set its limits.
    static let options = Section(Destination.Breaker()) {
        Option(
            "failures", \.failures, .whole(1...1_000_000),
            "Consecutive failures (no response, or 5xx) that stop sending.")
        Option(
            "probe", \.probe, .duration(from: "1ms", to: "1d", example: "30s"),
            "The wait before one attempt, whose outcome decides.")
    }
}

extension Destination.Ordering {
    /// `"fifo"` orders by subject, an object by a value of the event.
    static var type: OptionType<Destination.Ordering> {
        let expected =
            "write \"fifo\", {\"fifo\": \"/data/campaign/id\"} for a key of your own, or leave it out for no order"
        let keyed = OptionType.section(
            Section(Destination.Ordering()) {
                Option("fifo", \.key, .pointer, required: expected, "The value to compare, in the event.")
            })
        let schema: JSONNode = ["anyOf": [["const": "fifo"], keyed.info.schema]]
        return OptionType(TypeInfo("`fifo`, or object", schema, members: keyed.info.members)) { value, reader in
            if value.equals("fifo") { return Destination.Ordering() }
            if value.isObject { return keyed.read(value, &reader) }
            return reader.refuse(value, expected)
        }
    }
}
