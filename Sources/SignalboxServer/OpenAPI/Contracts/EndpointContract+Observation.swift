/// Endpoints about the observations of this process.
extension EndpointContract {
    static let observation: [EndpointContract] = [
        EndpointContract(
            "GET /v1/stream", "followStream", fields: [.lastEventID],
            Answer(status: 200, content: [.text("text/event-stream")]),
            problems: query + ["pattern-invalid", "content-hidden", "too-many-streams", "streams-closed"]),
        EndpointContract("GET /v1/vendors", "listVendors", .json("VendorList")),
        EndpointContract("GET /v1/rejections", "listRejections", .json("RejectionList")),
        EndpointContract("GET /v1/stats", "getStats", .json("Stats")),
    ]
}
