import Hummingbird
package import SignalboxConfig

/// An endpoint of the gateway. Routing, `allow`, the check of query parameters, access and the reference page
/// derive from its declaration.
package struct Endpoint: Sendable {
    /// The credential that a request needs.
    package enum Access: Sendable, Equatable {
        /// The token of a source with this right.
        case source(SourceRight)
        /// The token of an operator whose role includes this one.
        case role(OperatorRole)
        /// Either of them.
        case sourceOr(OperatorRole, SourceRight)
        /// Decided by the signature of the link.
        case link
        /// No credential.
        case none

        /// `metrics` is for collectors, `reader` for consoles and scripts that change no data.
        static let (metrics, reader) = (Access.role(.metrics), Access.role(.reader))
        static let (`operator`, admin) = (Access.role(.operator), Access.role(.admin))

        /// The words of the reference page.
        package var words: String {
            switch self {
            case .source: "source"
            case .role(let role): role.rawValue
            case .sourceOr(let role, _): "source or \(role.rawValue)"
            case .link: "link"
            case .none: "none"
            }
        }

        /// The lowest role that it accepts; nil for endpoints without operators.
        package var role: OperatorRole? {
            switch self {
            case .role(let role), .sourceOr(let role, _): role
            case .source, .link, .none: nil
            }
        }

        /// Whether only sources have access.
        var isOfSources: Bool { if case .source = self { true } else { false } }
    }

    /// A change that the action log records.
    package struct Operation: Sendable {
        /// Such as `deliveries.retry`.
        package let name: String
        /// Whether the store records it in the transaction of the change. Changes of memory are recorded afterwards.
        let isStored: Bool

        /// A change of the store; its handler passes the action on.
        static func stored(_ name: String) -> Operation { Operation(name: name, isStored: true) }
        /// A change of the memory of this process, or a request to a destination.
        static func memory(_ name: String) -> Operation { Operation(name: name, isStored: false) }
    }

    /// How much a request computes. ``ReadGate`` admits heavy ones, a few at a time.
    enum Work: Sendable {
        /// Reads or changes a bounded part of the store, or accepts payloads.
        case light
        /// Computes over payloads.
        case heavy
        /// Computes over payloads if the query has one of these parameters.
        case heavyWith([QueryParameter])

        /// Decides by the query alone, before the body is parsed.
        func isHeavy(_ call: Call) -> Bool {
            switch self {
            case .light: false
            case .heavy: true
            case .heavyWith(let parameters): parameters.contains { call.query($0.name) != nil }
            }
        }
    }

    /// Throws ``Problem`` for a rejected request. Any other error becomes a 500. Called after the access has been
    /// checked, with a body of at most ``bodyLimit`` bytes that has arrived completely.
    typealias Handler = @Sendable (GatewayAPI, Call, _ body: [UInt8]) async throws -> Response

    /// Throws ``Problem`` for a head that no body makes valid.
    typealias HeadCheck = @Sendable (GatewayAPI, Call) throws -> Void

    /// `GET` includes `HEAD`.
    package let method: String
    /// Parameters are in braces: `/v1/deliveries/{id}`. Matched against the undecoded path, so a parameter may
    /// contain percent escapes.
    package let path: String
    /// Checked before the body is read. A refusal costs no memory for a body.
    package let access: Access
    /// Other parameters are rejected. The handler reads the values; names are checked before it runs.
    package let parameters: [QueryParameter]
    /// The name of a change in the action log; nil for an endpoint that changes nothing.
    package let operation: Operation?
    /// One sentence in Markdown. The reference page prints it as it stands here.
    package let purpose: String
    /// The description of its bodies, answers and problems.
    let contract: EndpointContract
    /// The largest body in bytes; nil for an endpoint whose body is not collected. A POST to such an endpoint must not
    /// have a body.
    package let bodyLimit: Int?
    /// Whether the handler runs behind ``ReadGate``.
    let work: Work
    /// Runs before the body is read: a client that waits for `100 Continue` receives the final status instead (RFC
    /// 9110, 10.1.1).
    let checkHead: HeadCheck
    /// `body` is empty unless the endpoint takes a body.
    let handler: Handler

    /// An endpoint that takes a body.
    init(
        _ method: String, _ path: String, _ access: Access, _ purpose: String, _ contract: EndpointContract,
        parameters: [QueryParameter] = [], bodyLimit: Int? = GatewayServer.bodyLimit,
        changes operation: Operation? = nil, work: Work = .light, head checkHead: @escaping HeadCheck = { _, _ in },
        body handler: @escaping Handler
    ) {
        (self.method, self.path, self.access) = (method, path, access)
        (self.purpose, self.contract) = (purpose, contract)
        // Every change accepts a reason.
        self.parameters = operation == nil ? parameters : parameters + [.reason]
        (self.bodyLimit, self.operation, self.work) = (bodyLimit, operation, work)
        (self.checkHead, self.handler) = (checkHead, handler)
    }

    /// An endpoint without a body.
    init(
        _ method: String, _ path: String, _ access: Access, _ purpose: String, _ contract: EndpointContract,
        parameters: [QueryParameter] = [], changes operation: Operation? = nil, work: Work = .light,
        _ handler: @escaping @Sendable (GatewayAPI, Call) async throws -> Response
    ) {
        self.init(
            method, path, access, purpose, contract, parameters: parameters, bodyLimit: nil, changes: operation,
            work: work
        ) { api, call, _ in try await handler(api, call) }
    }

    /// The methods in the form of the `allow` header.
    package var allow: String { method == "GET" ? "GET, HEAD" : method }

    /// The methods of the endpoints whose path matches; nil for a path that no endpoint has. `path`: undecoded, without
    /// the query. Methods are in the order of ``all``.
    static func allow(at path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let endpoints = all.filter { endpoint in
            let declared = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            return declared.count == parts.count
                && zip(declared, parts).allSatisfy { $0 == $1 || ($0.hasPrefix("{") && !$1.isEmpty) }
        }
        return endpoints.isEmpty ? nil : endpoints.map(\.allow).joined(separator: ", ")
    }

    /// Rejects query parameters that are not known, and repeated ones: an ignored misspelled filter selects
    /// everything.
    ///
    /// Names are compared undecoded, because the readers of the query do not decode names either. Throws
    /// ``Problem/unknownParameter(_:known:)`` or ``Problem/repeatedParameter(_:)``. `query`: the text after the
    /// question mark, undecoded. A parameter without `=` counts as a name too.
    static func check(_ query: String, known: [String]) throws(Problem) {
        var seen: Set<Substring> = []
        for parameter in query.split(separator: "&") {
            let name = parameter.prefix { $0 != "=" }
            guard known.contains(String(name)) else { throw .unknownParameter(String(name), known: known) }
            guard seen.insert(name).inserted else { throw .repeatedParameter(String(name)) }
        }
    }
}
