import SignalboxMeasures

/// In-app decisions: in memory, over HTTP with their outcomes, and with a million users on disk.
struct InAppBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    private static let connections = 128
    private static let duration = 6
    private static let rounds = 3
    private static let users = 1_000_000

    func run() async throws {
        try decide()
        try serve()
        try await serveFromDisk()
    }

    // MARK: In memory

    /// Compares a decision with reading a payload and writing its event.
    private func decide() throws {
        table.section(
            "In-app decisions in memory, one core, 20,000 users of \(InAppMeasure.displays) displays each, \(InAppMeasure.candidates) candidates an event"
        )
        let few = try InAppMeasure(messages: 200, users: 20_000)
        let many = try InAppMeasure(messages: 5_000, users: 20_000)
        let decisions = 50_000
        var times: (events: [Double], few: [Double], many: [Double]) = ([], [], [])
        for _ in 0..<7 {
            times.events.append(seconds { _ = Stages.events(payloads.mixed) } / Double(payloads.mixed.count))
            times.few.append(seconds { _ = few.decide(decisions) } / Double(decisions))
            times.many.append(seconds { _ = many.decide(decisions) } / Double(decisions))
        }
        let (event, small, large) = (median(times.events), median(times.few), median(times.many))
        table.row("a payload read, its event written", "\((event * 1e9).readable) ns")
        table.row(
            "a decision, 200 messages", "\((small * 1e9).readable) ns, \((small / event).readable) times (at most 1)")
        table.row(
            "a decision, 5,000 messages",
            "\((large * 1e9).readable) ns, \((large / small).readable) times 200 (at most 2)")
    }

    // MARK: Over HTTP

    /// Compares triggers, each with the report of its outcome, with single payloads, in turn.
    private func serve() throws {
        table.section(
            "In-app over HTTP: \(Self.connections) connections for \(Self.duration) s, generator on the same cores")
        var single: [Double] = []
        var pairs: [Load] = []
        for round in 0..<Self.rounds {
            let payload = try load("single-\(round)", script: try singleScript())
            single.append(Double(payload.load.accepted) / Double(Self.duration))
            pairs.append(try load("pairs-\(round)", script: try pairScript(users: 100_000)).load)
        }
        let rates = pairs.map { Double($0.accepted) / Double(Self.duration) }
        let ratio = median(zip(rates, single).map { $0 / $1 })
        table.row("single payloads accepted", "\(median(single).readable) a second")
        table.row(
            "triggers and reports",
            "\(median(rates).readable) requests a second, \(ratio.readable) times (at least 0.4); \((median(rates) / 2).readable) pairs a second, \((ratio / 2).readable) times"
        )
        if let load = pairs.last { table.row("answered in", "p50 \(load.p50), p99 \(load.p99) (at most 4 times p50)") }
    }

    /// `prepare`: fills the data directory before the gateway starts.
    private func load(_ data: String, script: String) throws -> (load: Load, peakMB: Double) {
        let gateway = try GatewayProcess(binary: binary, workspace: workspace, data: data, config: Self.config)
        defer { gateway.stop() }
        try gateway.post("/v1/destinations/crm/pause")
        for number in 0..<Self.messages {
            try gateway.post("/v1/inapp/messages/m-\(number)", Self.message(number), method: "PUT")
        }
        let load = try Load.run(
            script: script, connections: Self.connections, seconds: Self.duration, url: gateway.url)
        return (load, gateway.peakMB)
    }

    // MARK: On disk

    private func serveFromDisk() async throws {
        table.section("In-app with the histories of \(Double(Self.users).readable) users on disk")
        let clock = ContinuousClock()
        let start = clock.now
        try await InAppMeasure.fill(directory: workspace.file("users"), users: Self.users)
        table.row(
            "histories written", "\(Double(Self.users).readable) in \(((clock.now - start) / .seconds(1)).readable) s")
        let small = workspace.file("thousand-users")
        try await InAppMeasure.fill(directory: small, users: 1000)
        let read = (
            few: try await InAppMeasure.readKB(directory: small, users: 1000),
            many: try await InAppMeasure.readKB(directory: workspace.file("users"), users: Self.users)
        )
        table.row(
            "read from the file by a decision",
            "\(read.few.readable) KB among 1,000 users, \(read.many.readable) KB among \(Double(Self.users).readable)")
        let few = try load("few-users", script: try pairScript(users: 1_000))
        let many = try load("users", script: try pairScript(users: Self.users))
        let rates = [few, many].map { Double($0.load.accepted) / Double(Self.duration) }
        table.row(
            "triggers and reports",
            "\(rates[1].readable) requests a second, \((rates[1] / rates[0]).readable) times those of 1,000 users")
        table.row("peak memory of the gateway", "\(Int(many.peakMB)) MB (at most 150)")
    }

    // MARK: Input

    private static let messages = 200
    /// Messages of one event.
    private static let candidates = 4

    private static let config = """
        { "egress": { "allow": ["127.0.0.0/8"] }, "inapp": { "interval": "0s" },
          "destinations": { "crm": { "url": "http://127.0.0.1:9/", "secret": "env:WEBHOOK_SECRET" } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
        """

    private static func message(_ number: Int) -> String {
        """
        { "vendor": "braze", "kind": "modal", "rank": \(100 + number), "reEligibility": "always",
          "triggers": [ { "type": "event", "name": "event-\(number / candidates)",
                          "filter": [ [ { "property": "total", "greaterThan": 20 } ] ] } ],
          "limits": [ { "count": 1000, "per": "user", "window": "24h" } ],
          "content": { "title": "Spring sale", "body": "Twenty percent off, today only." } }
        """
    }

    private func singleScript() throws -> String {
        let texts = payloads.mixed.prefix(200).map { String(decoding: $0, as: UTF8.self).replacing("\n", with: " ") }
        return try workspace.write(
            """
            local bodies = { \(texts.map { "[==[\($0)]==]" }.joined(separator: ",\n")) }
            local number = 0
            request = function()
              number = number % #bodies + 1
              return wrk.format("POST", "/v1/notifications", { ["content-type"] = "application/json" }, bodies[number])
            end
            \(Self.summary)
            """, to: "single.lua")
    }

    /// Each offer is reported by the next free connection. Users and devices are drawn at random.
    private func pairScript(users: Int) throws -> String {
        try workspace.write(
            """
            local json = { ["content-type"] = "application/json" }
            local offers = {}
            local number = 0
            math.randomseed(17)
            request = function()
              local offer = table.remove(offers)
              if offer then
                return wrk.format("POST", "/v1/inapp/offers/" .. offer .. "/outcome", json, '{"outcome":"dismissed","how":"user"}')
              end
              number = number + 1
              local user = math.random(0, \(users - 1))
              return wrk.format("POST", "/v1/inapp/triggers", json, string.format(
                '{"triggerId":"t-%d","device":"device-%d","user":"user-%d","event":{"type":"event","name":"event-%d",' ..
                '"properties":{"total":42.5,"country":"PL"}},"state":{"foreground":true,"screen":"cart"}}',
                number, user, user, number % \(Self.messages / Self.candidates)))
            end
            response = function(status, headers, body)
              local offer = string.match(body, '"offer":{"id":"(of_%x+)"')
              if offer and string.find(body, '"leaseUntil"', 1, true) then offers[#offers + 1] = offer end
            end
            \(Self.summary)
            """, to: "pairs.lua")
    }

    private static let summary = """
        done = function(summary, latency, requests)
          io.write(string.format("RESULT %d %d %d %d\\n", summary.requests - summary.errors.status,
            summary.errors.status, latency:percentile(50), latency:percentile(99)))
        end
        """
}
