import Foundation

/// Lists of the API and a scrape over a million deliveries, and the size of the console's files.
struct ConsoleListBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    /// Each event has a delivery to each destination.
    private static let (destinations, events, perRequest) = (10, 100_000, 2_000)
    private static let repeats = 5

    /// Lists, with a query that matches much and one that matches nothing; nil for lists without filters.
    private static let lists: [(path: String, much: String, none: String?)] = [
        ("/v1/events", "vendor=braze", "vendor=nobody"), ("/v1/events", "kind=alert", "warning=no.such-code"),
        ("/v1/events", "source=default", "routed=none"),
        (
            "/v1/events", "pattern=%7B%22data%22%3A%7B%22kind%22%3A%5B%22alert%22%5D%7D%7D",
            "pattern=%7B%22data%22%3A%7B%22kind%22%3A%5B%22never%22%5D%7D%7D"
        ),
        ("/v1/deliveries", "state=waiting", "state=dead"),
        ("/v1/deliveries", "destination=d3", "destination=d3&state=dead"),
        ("/v1/deliveries", "vendor=braze", "vendor=nobody"), ("/v1/deliveries", "limit=500", "status=503"),
        ("/v1/deliveries", "state=waiting&vendor=mce", "error=timeout"),
        ("/v1/actions", "limit=500", "actor=nobody"), ("/v1/categories", "limit=500", nil),
        ("/v1/media", "limit=500", nil),
        ("/v1/destinations", "", nil), ("/v1/vendors", "", nil), ("/v1/rejections", "", nil),
        ("/v1/captures", "", nil), ("/v1/stats", "", nil), ("/v1/routes/graph", "", nil),
    ]

    func run() throws {
        let gateway = try start()
        defer { gateway.stop() }
        let bodies = (0..<10).map { part in
            (0..<Self.perRequest).map { payloads.mixed[(part * Self.perRequest + $0) % payloads.mixed.count] }
                .map { String(decoding: $0, as: UTF8.self).replacing("\n", with: " ") }.joined(separator: "\n")
        }
        let time = try seconds {
            for number in 0..<Self.events / Self.perRequest {
                try gateway.post("/v1/notifications", bodies[number % bodies.count])
            }
        }
        let deliveries = Double(Self.events * Self.destinations)
        table.row("\(deliveries.readable) deliveries made", "in \(time.readable) s")
        var slowest = 0.0
        for list in Self.lists {
            let queries = [list.much] + (list.none.map { [$0] } ?? [])
            let times = try queries.map { try milliseconds(of: gateway.url + list.path + ($0.isEmpty ? "" : "?" + $0)) }
            slowest = max(slowest, times.max() ?? 0)
            let none = list.none.map { _ in ", no match \(times[1].readable) ms" } ?? ""
            table.row(name(list), "\(times[0].readable) ms\(none)")
        }
        table.row("the slowest list", "\(slowest.readable) ms (at most 200)")
        let ledger = try milliseconds(of: gateway.url + "/v1/ledger")
        table.row("/v1/ledger", "\(ledger.readable) ms")
        table.row("scrape of /metrics", "\(try milliseconds(of: gateway.url + "/metrics").readable) ms (at most 10)")
        table.row("all files of the console", "\((try size(of: gateway.url) / 1000).readable) kB (at most 160)")
    }

    private func name(_ list: (path: String, much: String, none: String?)) -> String {
        let much = list.much.prefix { $0 != "%" }
        return much.isEmpty ? list.path : "\(list.path)?\(much)"
    }

    private func start() throws -> GatewayProcess {
        let names = (0..<Self.destinations).map { "d\($0)" }
        let entries = names.map { #""\#($0)": { "url": "http://127.0.0.1:9/", "secret": "env:WEBHOOK_SECRET" }"# }
        let gateway = try GatewayProcess(
            binary: binary, workspace: workspace, data: "console-lists",
            config: """
                { "egress": { "allow": ["127.0.0.0/8"] }, "destinations": { \(entries.joined(separator: ", ")) },
                  "routes": [ { "name": "everything", "match": {}, "to": \(names) } ] }
                """)
        for name in names { try gateway.post("/v1/destinations/\(name)/pause") }
        return gateway
    }

    /// The median time of a whole response. The status must be 200.
    private func milliseconds(of url: String) throws -> Double {
        let times = try (0..<Self.repeats).map { _ in
            let text = try Program.run([
                "curl", "--fail", "--silent", "--output", "/dev/null", "--write-out", "%{time_total}", url,
            ])
            return (Double(text) ?? .infinity) * 1000
        }
        return median(times)
    }

    /// The bytes of the page and of everything that it loads, found from file to file.
    private func size(of url: String) throws -> Double {
        var (known, bytes): (Set<String>, Int) = (["/"], 0)
        var waiting = ["/"]
        while let path = waiting.popLast() {
            let text = try Program.run(["curl", "--fail", "--silent", url + path])
            bytes += text.utf8.count
            let folder = path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
            for match in text.matches(of: /"((?:console|assets)\/[\w.\/-]+|\.\/[\w.-]+\.js)"/) {
                let name = String(match.1)
                let found = name.hasPrefix("./") ? folder + name.dropFirst() : "/" + name
                if known.insert(found).inserted { waiting.append(found) }
            }
        }
        return Double(bytes)
    }
}
