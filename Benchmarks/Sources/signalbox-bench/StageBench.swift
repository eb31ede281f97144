import SignalboxMeasures

/// The stages inside the process, on one core.
struct StageBench {
    let payloads: Payloads
    let table: Table

    func run() throws {
        let mixed = payloads.mixed
        let bytes = mixed.reduce(0) { $0 + $1.count }
        table.section("Stages, one core, \(mixed.count) payloads of \(payloads.meanSize) bytes on average")
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
        vendors()
        try routes()
    }

    /// The time to the event's bytes, by vendor, and vendors of the catalogue against those with code.
    private func vendors() {
        let samples = payloads.all
        table.section("Vendors, one core, \(samples.count) payloads, from the text to the event")
        let times = zip(samples, Stages.times(samples.map(\.bytes), rounds: 9)).map { sample, time in
            (vendor: sample.vendor, size: sample.bytes.count, seconds: time / .seconds(1))
        }
        let means = Dictionary(grouping: times, by: \.vendor).mapValues { own in
            (time: median(own.map(\.seconds)), size: own.reduce(0) { $0 + $1.size } / own.count)
        }
        for (vendor, mean) in means.sorted(by: { $0.value.time > $1.value.time }).prefix(5) {
            table.row(
                "slow: \(vendor)", "\((mean.time * 1e9).readable) ns a payload (median), \(mean.size) bytes on average")
        }
        let coded = times.filter { Stages.vendorsWithCode.contains($0.vendor) }
        let ratios = times.filter { !Stages.vendorsWithCode.contains($0.vendor) && $0.vendor != "unknown" }.compactMap {
            sample -> Double? in
            let similar = coded.filter { abs($0.size - sample.size) * 5 <= sample.size }
            return similar.isEmpty ? nil : sample.seconds / median(similar.map(\.seconds))
        }
        table.row("vendors with code, median", "\((median(coded.map(\.seconds)) * 1e9).readable) ns a payload")
        table.row(
            "catalogue to code, payloads of a similar size",
            "\(median(ratios).readable) times, the median of \(ratios.count) (at most 1.3)")
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
