/// Endpoints about the config, the paths of events, and stored data.
extension EndpointContract {
    static let inspection: [EndpointContract] = [
        EndpointContract("GET /v1/routes/graph", "getRouteGraph", .json("RouteGraph")),
        EndpointContract(
            "POST /v1/routes/match", "matchPattern", body: [.json("PatternTrial")], .json("PatternMatches"),
            problems: queue + ["pattern-invalid", "body-unexpected", "content-hidden"]),
        EndpointContract(
            "POST /v1/config/check", "checkConfig", body: [.json("ConfigText")], .json("ConfigCheck"),
            problems: ["payload-empty", "config-unreadable", "config-check-busy"]),
        EndpointContract("GET /v1/config/history", "listConfigs", .json("ConfigHistory")),
        EndpointContract("GET /v1/ledger", "getLedger", .json("Ledger"), problems: queue),
        EndpointContract("GET /v1/media", "listMedia", .json("MediaList"), problems: queue),
    ]
}
