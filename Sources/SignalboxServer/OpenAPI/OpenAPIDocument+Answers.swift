import NIOHTTP1
import SignalboxConfig

/// Answers of operations: those of the contract, and a problem for each other status.
extension OpenAPIDocument {
    /// In the order of the statuses. A status with an answer and problems has the media types of both.
    static func answers(of endpoint: Endpoint) -> JSONNode {
        let problems = Dictionary(grouping: endpoint.problemCodes) { ProblemDescription.status(of: $0) }
        let statuses = Set(endpoint.contract.answers.map(\.status)).union(problems.keys).sorted()
        return .object(
            statuses.map { status in
                let answer = endpoint.contract.answers.first { $0.status == status }
                let codes = problems[status] ?? []
                return JSONNode.Member(key: "\(status)", value: self.answer(status, answer, codes, at: endpoint))
            })
    }

    /// The description is the reason phrase of the status. `answer`: nil for a status that only problems have; then the
    /// fields are those of the problem.
    private static func answer(
        _ status: Int, _ answer: EndpointContract.Answer?, _ codes: [String], at endpoint: Endpoint
    ) -> JSONNode {
        var fields = answer?.fields ?? []
        if endpoint.hasOperatorFields {
            fields.append(.requestID)
            if !fields.contains(.cacheControl) { fields.append(.cacheControl) }
        }
        if answer == nil { fields += problemFields(status) }
        var node: JSONNode = ["description": .string(HTTPResponseStatus(statusCode: status).reasonPhrase)]
        if !fields.isEmpty {
            node = node.adding([
                "headers": .object(
                    fields.map { field in
                        JSONNode.Member(
                            key: field.rawValue, value: ["$ref": .string("#/components/headers/" + field.rawValue)])
                    })
            ])
        }
        let types = content(answer?.content ?? []).adding(codes.isEmpty ? [:] : problem(status, codes))
        return types.members.isEmpty ? node : node.adding(["content": types])
    }

    /// Fields of a problem with this status.
    private static func problemFields(_ status: Int) -> [AnswerField] {
        switch status {
        case 401: [.authenticate]
        case 416: [.contentRange]
        case 429, 503: [.retryAfter]
        default: []
        }
    }

    /// The schema `Problem`, narrowed to one status and the codes that this endpoint sends with it.
    private static func problem(_ status: Int, _ codes: [String]) -> JSONNode {
        let schema: JSONNode = [
            "$ref": "#/components/schemas/Problem",
            "properties": ["status": ["const": .integer(status)], "code": ["enum": .strings(codes)]],
        ]
        return ["application/problem+json": ["schema": schema]]
    }
}

extension Endpoint {
    /// Every code that a request may receive, each once: of the HTTP layer, the query, the access, the body and the
    /// handler.
    var problemCodes: [String] {
        var codes = Self.connectionCodes + ["parameter-unknown", "parameter-repeated"]
        if parameters.contains(where: { $0.form != .text || $0 == .cursor }) { codes += Self.query }
        switch access {
        case .source: codes += Self.openCodes + ["source-forbidden"]
        case .role: codes += Self.operatorCodes
        case .sourceOr: codes += Self.operatorCodes + ["source-forbidden"]
        case .link, .none: break
        }
        if bodyLimit != nil {
            codes += [
                "body-too-large", "body-incomplete", "body-too-slow", "content-encoding-unsupported", "gateway-busy",
            ]
        } else if method == "POST" {
            codes += ["body-unexpected", "body-incomplete", "body-too-slow"]
        }
        if case .light = work {} else { codes.append("reads-busy") }
        // Of browsers only.
        if access.role != nil, method != "GET" { codes.append("origin-foreign") }
        codes += contract.problems
        var seen: Set<String> = []
        return codes.filter { seen.insert($0).inserted }
    }

    /// Of every endpoint with a token: a missing token, and the checks of a gateway that needs none.
    private static let openCodes = ["unauthorized", "not-from-this-machine", "forwarded-without-sources"]
    /// In addition, those of roles and of the host that browsers name.
    private static let operatorCodes = openCodes + ["role-insufficient", "admin-closed", "host-foreign"]
    /// Of a request that the HTTP layer rejects, and of a defect.
    private static let connectionCodes = [
        "host-invalid", "target-invalid", "framing-ambiguous", "request-refused", "expectation-unsupported",
        "transfer-coding-unsupported", "internal-error",
    ]
}

extension ProblemDescription {
    /// By code. Codes of both lists differ, so no entry is lost.
    private static let statuses = Dictionary((payloads + requests).map { ($0.code, $0.status) }) { first, _ in first }

    /// The usual status of a code; 500 for an unknown one, which a test reports.
    static func status(of code: String) -> Int { statuses[code] ?? 500 }
}
