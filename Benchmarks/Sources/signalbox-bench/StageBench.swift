import SignalboxMeasures

/// The stages inside the process, on one core.
struct StageBench {
    let payloads: Payloads
    let table: Table

    func run() throws {
        let mixed = payloads.mixed
        let bytes = mixed.reduce(0) { $0 + $1.count }
        table.section("Stages, one core, \(mixed.count) payloads of \(bytes / mixed.count) bytes on average")
        let rounds = 7
        var parse: [Double] = []
        var read: [Double] = []
        var events: [Double] = []
        var chains: [(without: Duration, with: Duration)] = []
        for _ in 0..<rounds {
            parse.append(seconds { _ = Stages.parse(mixed) })
            read.append(seconds { _ = Stages.read(mixed) })
            events.append(seconds { _ = Stages.events(mixed) })
            chains.append(Stages.chain(mixed))
        }
        report("simdjson parse alone", median(parse), bytes)
        report("parse + detect + read", median(read), bytes)
        report("parse + detect + read + event bytes", median(events), bytes)
        report("chain without catalogue", median(chains.map { $0.without / .seconds(1) }), bytes)
        report("chain with catalogue", median(chains.map { $0.with / .seconds(1) }), bytes)
        let ratio = median(chains.map { $0.with / $0.without })
        table.row("with the catalogue to without", "\(ratio.readable) times (at most 1.5)")
        try routes()
    }

    /// Matching of parsed events; a single route is the mean of one of each kind.
    private func routes() throws {
        table.section("Routes, one core, parsed events of \(RouteMeasure.eventBytes) bytes")
        let single = try (0..<RouteMeasure.kinds).map { try RouteMeasure(routes: 1, kind: $0) }
        let several = try [100, 1_000, 10_000].map { (count: $0, measure: try RouteMeasure(routes: $0)) }
        let events = 100_000
        var alone: [Double] = []
        var among: [[Double]] = several.map { _ in [] }
        for _ in 0..<9 {
            alone.append(seconds { for one in single { _ = one.match(events / single.count) } })
            for (place, set) in several.enumerated() { among[place].append(seconds { _ = set.measure.match(events) }) }
        }
        let one = median(alone)
        report("1 route", one, events, to: one)
        for (place, set) in several.enumerated() {
            report("\(Double(set.count).readable) routes", median(among[place]), events, to: one)
        }
        guard let most = several.last?.measure else { return }
        report(
            "10,000 routes, whole decision", median((0..<5).map { _ in seconds { _ = most.decide(events) } }), events,
            to: one)
        report("10,000 routes, one by one", seconds { _ = most.matchOneByOne(200) }, 200, to: one)
        table.row("routes that match of 10,000", "\((Double(most.match(events)) / Double(events)).readable) an event")
    }

    private func report(_ what: String, _ time: Double, _ events: Int, to one: Double) {
        let rate = Double(events) / time
        table.row(
            what,
            "\((time / Double(events) * 1e9).readable) ns an event, \(rate.readable)/s, \((one / 100_000 * rate).readable) times 1 route"
        )
    }

    private func report(_ what: String, _ time: Double, _ bytes: Int) {
        let count = Double(payloads.mixed.count)
        table.row(
            what,
            "\((time / count * 1e9).readable) ns a payload, \((count / time).readable)/s, \((Double(bytes) / time / 1e6).readable) MB/s"
        )
    }
}
