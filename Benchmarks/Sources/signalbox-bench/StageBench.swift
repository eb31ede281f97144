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
    }

    private func report(_ what: String, _ time: Double, _ bytes: Int) {
        let count = Double(payloads.mixed.count)
        table.row(
            what,
            "\((time / count * 1e9).readable) ns a payload, \((count / time).readable)/s, \((Double(bytes) / time / 1e6).readable) MB/s"
        )
    }
}
