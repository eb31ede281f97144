import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxStore
import Testing

@testable import SignalboxServer

/// The description of the API agrees with the declarations from which it derives.
@Suite(.timeLimit(.minutes(1))) struct OpenAPITests {
    private typealias Object = [String: Any]

    private static func document() throws -> Object {
        let text = Data(OpenAPIDocument.text(version: "1.2.3"))
        return try #require(try JSONSerialization.jsonObject(with: text) as? Object)
    }

    /// Operations of the document by `METHOD path`.
    private static func operations() throws -> [String: Object] {
        let paths = try #require(try document()["paths"] as? [String: [String: Object]])
        return Dictionary(
            uniqueKeysWithValues: paths.flatMap { path, operations in
                operations.map { ("\($0.key.uppercased()) \(path)", $0.value) }
            })
    }

    private static func codes(_ operation: Object) throws -> [String: Set<String>] {
        let answers = try #require(operation["responses"] as? [String: Object])
        return answers.compactMapValues { answer in
            let content = answer["content"] as? [String: Object]
            let schema = content?["application/problem+json"]?["schema"] as? Object
            let properties = schema?["properties"] as? [String: Object]
            return (properties?["code"]?["enum"] as? [String]).map { Set($0) }
        }
    }

    // MARK: Endpoints

    @Test func hasTheOperationsOfTheRouter() throws {
        #expect(Set(try Self.operations().keys) == Set(Endpoint.all.map(\.key)))
    }

    @Test func everyOperationHasItsOwnName() {
        let names = Endpoint.all.map(\.contract.name)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isLetter } })
    }

    @Test func everyOperationHasASuccessfulAnswerAndARole() throws {
        for (key, operation) in try Self.operations() {
            let answers = try #require(operation["responses"] as? [String: Object])
            #expect(answers.keys.contains { $0.hasPrefix("2") }, "\(key)")
            #expect(answers.values.allSatisfy { ($0["description"] as? String)?.isEmpty == false }, "\(key)")
            let endpoint = try #require(Endpoint.all.first { $0.key == key })
            #expect(operation["x-role"] as? String == endpoint.access.role?.rawValue ?? endpoint.access.words)
            let needsToken = endpoint.access != .none && endpoint.access != .link
            #expect((operation["security"] as? [Any])?.isEmpty == !needsToken, "\(key)")
        }
    }

    @Test func bodiesAreThoseThatEndpointsRead() {
        for endpoint in Endpoint.all {
            #expect(endpoint.contract.body.isEmpty == (endpoint.bodyLimit == nil), "\(endpoint.key)")
        }
    }

    @Test func everyParameterIsDescribed() throws {
        let operations = try Self.operations()
        for endpoint in Endpoint.all {
            let described = operations[endpoint.key]?["parameters"] as? [Object] ?? []
            func names(_ location: String) -> [String] {
                described.filter { $0["in"] as? String == location }.compactMap { $0["name"] as? String }
            }
            #expect(names("query") == endpoint.parameters.map(\.name), "\(endpoint.key)")
            #expect(names("path") == endpoint.pathParameters, "\(endpoint.key)")
        }
    }

    @Test func parametersHaveTheirBounds() throws {
        let list = try #require(try Self.operations()["GET /v1/deliveries"]?["parameters"] as? [Object])
        let schemas = Dictionary(list.map { ($0["name"] as? String ?? "", $0["schema"] as? Object ?? [:]) }) { $1 }
        #expect(schemas["limit"]?["minimum"] as? Int == 1)
        #expect(schemas["limit"]?["maximum"] as? Int == QueryParameter.largestPage)
        #expect(schemas["state"]?["enum"] as? [String] == ["waiting", "delivered", "dead", "expired"])
        #expect(schemas["since"]?["format"] as? String == "date-time")
        #expect(schemas["error"]?["enum"] as? [String] == DeliveryFilter.errors)
        #expect(list.allSatisfy { $0["required"] as? Bool != true })
    }

    @Test func aRequiredParameterIsDeclaredAsOne() throws {
        let list = try #require(try Self.operations()["POST /v1/events/{id}/send"]?["parameters"] as? [Object])
        let required = list.filter { $0["required"] as? Bool == true }.compactMap { $0["name"] as? String }
        #expect(required == ["id", "destination"])
    }

    /// The patterns in the document accept and reject the same values as the handlers.
    @Test(
        arguments: [
            ("GET /v1/deliveries", "status", ["503", "5xx", "4XX", "100"], ["600", "0xx", "+50", "5xxx", "", "5"]),
            ("DELETE /v1/captures", "run", ["a", "r-1_2.x"], ["", "a b", "é", String(repeating: "a", count: 65)]),
            ("POST /v1/captures/search", "run", ["nightly"], [""]),
            ("POST /v1/explain", "source", ["app"], ["", "a/b"]),
            ("POST /v1/routes/test", "source", ["app"], ["a b"]),
            ("POST /v1/events/{id}/send", "destination", ["crm"], [""]),
            (
                "POST /v1/destinations/{name}/pause", "until", ["30m", "1d", "2026-11-27T08:00:00Z"],
                ["", "0s", "tomorrow", "2026-11-27", "-1h", "1w"]
            ),
        ] as [(String, String, [String], [String])])
    func patternsDescribeWhatIsEnforced(key: String, name: String, accepted: [String], refused: [String]) throws {
        let list = try #require(try Self.operations()[key]?["parameters"] as? [Object])
        let schema = try #require(list.first { $0["name"] as? String == name }?["schema"] as? Object)
        let patterns = (schema["anyOf"] as? [Object] ?? [schema]).compactMap { $0["pattern"] as? String }
        #expect(!patterns.isEmpty)
        func matches(_ text: String) -> Bool {
            patterns.contains { text.range(of: $0, options: .regularExpression) != nil }
        }
        for text in accepted { #expect(matches(text), "\(name)=\(text)") }
        for text in refused { #expect(!matches(text), "\(name)=\(text)") }
    }

    /// The gateway answers a body with neither member with 400.
    @Test func aBulkChangeIsAPreviewOrARun() throws {
        let schemas = try #require((try Self.document()["components"] as? Object)?["schemas"] as? [String: Object])
        let steps = try #require(schemas["BulkRequest"]?["oneOf"] as? [Object])
        #expect(steps.map { $0["required"] as? [String] } == [["dryRun"], ["confirm"]])
    }

    @Test func kindsOfEventsAreThoseOfEveryEvent() {
        for kind in ["alert", "live-activity", "modal", "no-match", "accepted", "unreachable"] {
            #expect(EventQuery.kinds.contains(kind), "\(kind)")
        }
        #expect(Set(EventQuery.kinds).count == EventQuery.kinds.count && !EventQuery.kinds.contains("Alert"))
    }

    @Test func everyHeaderFieldIsDescribed() throws {
        let components = try #require(try Self.document()["components"] as? [String: Object])
        #expect(components["headers"].map { Set($0.keys) } == Set(AnswerField.allCases.map(\.rawValue)))
        #expect(components["parameters"].map { Set($0.keys) } == Set(RequestField.allCases.map(\.rawValue)))
    }

    // MARK: Problems

    @Test func everyProblemBelongsToAnOperation() throws {
        let documented = try Self.operations().values.flatMap { try Self.codes($0).values }
        let known = (ProblemDescription.payloads + ProblemDescription.requests).map(\.code)
        // The router answers these for paths and methods that have no operation.
        let ofRouter: Set = ["method-not-allowed"]
        #expect(Set(known).subtracting(documented.joined()) == ofRouter)
    }

    @Test func everyCodeHasItsStatus() throws {
        let known = Dictionary(
            (ProblemDescription.payloads + ProblemDescription.requests).map { ($0.code, $0.status) }
        ) { first, _ in first }
        for (key, operation) in try Self.operations() {
            for (status, codes) in try Self.codes(operation) {
                for code in codes { #expect(known[code] == Int(status), "\(code) of \(key)") }
            }
        }
    }

    @Test func operatorsOperationsHaveTheirProblems() throws {
        let codes = try Self.codes(try #require(try Self.operations()["POST /v1/destinations/{name}/pause"]))
        #expect(codes["401"] == ["unauthorized"])
        #expect(codes["403"]?.isSuperset(of: ["role-insufficient", "admin-closed"]) == true)
        #expect(codes["404"] == ["destination-not-found"])
        #expect(codes["400"]?.contains("body-unexpected") == true)
    }

    // MARK: The document

    @Test func everyReferenceHasATarget() throws {
        let document = try Self.document()
        var references: Set<String> = []
        func collect(_ value: Any) {
            if let object = value as? Object {
                if let target = object["$ref"] as? String { references.insert(target) }
                object.values.forEach(collect)
            } else if let array = value as? [Any] {
                array.forEach(collect)
            }
        }
        collect(document)
        #expect(references.count > 50)
        for reference in references {
            let found = reference.dropFirst(2).split(separator: "/").reduce(document as Any?) { value, key in
                (value as? Object)?[String(key)]
            }
            #expect(reference.hasPrefix("#/") && found != nil, "\(reference)")
        }
    }

    @Test func everySchemaIsUsed() throws {
        let text = String(decoding: OpenAPIDocument.text(version: "1"), as: UTF8.self)
        let components = try #require(try Self.document()["components"] as? [String: Object])
        for name in try #require(components["schemas"]).keys {
            #expect(text.contains("\"#/components/schemas/\(name)"), "\(name) is not referenced")
        }
    }

    @Test func namesOfSchemasAreUnique() {
        let names = OpenAPIDocument.schemas.members.map(\.key)
        #expect(Set(names).count == names.count)
    }

    @Test func describesEverythingThatTheGatewaySends() throws {
        let document = try Self.document()
        #expect(document["openapi"] as? String == "3.1.0")
        #expect((document["info"] as? Object)?["version"] as? String == "1.2.3")
        let webhooks = try #require(document["webhooks"] as? Object)
        #expect(
            Set(webhooks.keys) == [
                "notificationReceived", "interactionReceived", "inAppDecided", "pushAnswered", "deliveryDead", "ping",
            ])
    }

    /// Clients distinguish cases by these words.
    @Test func schemasListTheWordsOfTheCode() throws {
        let schemas = try #require((try Self.document()["components"] as? Object)?["schemas"] as? [String: Object])
        func words(_ name: String, _ path: String...) -> Set<String> {
            let schema = path.reduce(schemas[name]) { $0?[$1] as? Object }
            return Set(schema?["enum"] as? [String] ?? [])
        }
        let delivery = ("Delivery", "properties")
        #expect(words(delivery.0, delivery.1, "state") == Set(DeliveryRecord.State.allCases.map(\.rawValue)))
        #expect(
            words(delivery.0, delivery.1, "waitingFor", "properties", "reason")
                == Set(DeliveryWait.Reason.allCases.map(\.rawValue)))
        #expect(
            words(delivery.0, delivery.1, "blockedBy") == Set(DeliveryWait.Block.allCases.map(\.rawValue)))
        #expect(words("DeliveryFilter", "properties", "error") == Set(DeliveryFilter.errors))
        #expect(words("Destination", "properties", "state") == Set(DestinationStatus.words + ["unknown"]))
        #expect(words("Capture", "properties", "outcome") == Set(Capture.Outcome.allCases.map(\.rawValue)))
        #expect(words("Operator", "properties", "role") == Set(OperatorRole.allCases.map(\.rawValue)))
        #expect(words("PayloadReceipt", "properties", "kind") == Set(PushNotification.Kind.allCases.map(\.rawValue)))
        #expect(words("InAppOutcome", "properties", "outcome") == Set(ReportForm.Outcome.allCases.map(\.rawValue)))
    }

    /// The command line prints it on several lines.
    @Test func bothFormsAreTheSameDocument() throws {
        let pretty = OpenAPIDocument.node(version: "1.2.3").pretty()
        let read = try #require(try JSONSerialization.jsonObject(with: Data(pretty.utf8)) as? NSDictionary)
        #expect(read == (try Self.document() as NSDictionary))
    }
}
