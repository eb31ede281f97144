/// Endpoints of the console's files.
extension EndpointContract {
    static let console: [EndpointContract] = [
        EndpointContract(
            "GET /", "getConsole", fields: [.ifNoneMatch],
            Answer(status: 200, content: [.bytes("text/html")], fields: file), .notModified,
            problems: ["host-foreign"]),
        EndpointContract(
            "GET /console/{file}", "getConsoleFile", fields: [.ifNoneMatch],
            Answer(status: 200, content: [.bytes("*/*")], fields: file), .notModified,
            problems: ["host-foreign", "not-found"]),
        EndpointContract(
            "GET /assets/{version}/{file}", "getConsoleFileOfVersion", fields: [.ifNoneMatch],
            Answer(status: 200, content: [.bytes("*/*")], fields: file), .notModified,
            problems: ["host-foreign", "not-found"]),
    ]

    /// Clients revalidate a file by its tag; `cache-control` depends on the path.
    private static let file: [AnswerField] = [.etag, .cacheControl]
}
