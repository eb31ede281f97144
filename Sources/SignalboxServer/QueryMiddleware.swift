import Hummingbird

/// Rejects query parameters that an endpoint does not have, and repeated ones.
///
/// An ignored misspelled filter would select everything: a wrong answer, or the wrong change.
struct QueryMiddleware: RouterMiddleware {
    /// The names of each endpoint's parameters, by its path.
    private let parameters: [String: [String]]

    init(_ endpoints: [Endpoint]) {
        parameters = Dictionary(endpoints.map { ($0.path.description, $0.parameters) }) { first, _ in first }
    }

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        // Other paths do not exist, and the router says so.
        if let query = request.uri.query, let path = context.endpointPath, let known = parameters[path] {
            try Self.check(query, known: known)
        }
        return try await next(request, context)
    }

    /// Names are compared undecoded, because the readers of the query do not know percent-encoded names either.
    static func check(_ query: String, known: [String]) throws(Problem) {
        var seen: Set<Substring> = []
        for parameter in query.split(separator: "&") {
            let name = parameter.prefix { $0 != "=" }
            guard known.contains(String(name)) else { throw .unknownParameter(String(name), known: known) }
            guard seen.insert(name).inserted else { throw .repeatedParameter(String(name)) }
        }
    }
}

/// An endpoint of the gateway, with its methods and query parameters.
struct Endpoint {
    let path: RouterPath
    /// Methods, in the form of the `allow` header.
    let allow: String
    /// Names of query parameters.
    let parameters: [String]

    init(_ path: RouterPath, _ allow: String, parameters: [String] = []) {
        self.path = path
        self.allow = allow
        self.parameters = parameters
    }
}

extension Request {
    /// A whole-number query parameter; nil when it is absent.
    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = uri.queryParameters[name[...]].map(String.init) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .badQuery("\(name) is \(text): write a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
