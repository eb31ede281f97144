import Foundation
import HTTPTypes
import Hummingbird
import SignalboxEgress
import SignalboxJSON
package import SignalboxNotification
package import SignalboxStore

/// The sets of buttons that an app registers with its system when it starts: those that payloads defined, and those that
/// the config declares. For sources and operators; apps ask through their own back ends.
package struct CategoriesAPI: Sendable {
    private let queue: any IntakeStore
    private let sources: SourceAccess
    private let operators: AdminAccess
    private let statics: [CategoryRecord]
    private let limit: Int

    /// `statics`: those of the config, in the order of their identifiers; they win over what payloads called the same.
    /// `limit`: the most of the others in one answer.
    package init(
        queue: any IntakeStore, sources: SourceAccess, operators: AdminAccess, statics: [CategoryRecord], limit: Int
    ) {
        self.queue = queue
        self.sources = sources
        self.operators = operators
        self.statics = statics
        self.limit = limit
    }

    static let endpoints = [
        Endpoint("/v1/categories", "GET, HEAD", parameters: ["limit", "cursor"]),
        Endpoint("/v1/categories/{identifier}", "GET, HEAD"),
    ]

    func add(to router: Router<GatewayRequestContext>) {
        router.get("/v1/categories") { request, _ in try await list(request) }
        router.get("/v1/categories/{identifier}") { request, context in
            // The router hands on what stands in the address; identifiers are any text.
            let text = context.parameters.get("identifier") ?? ""
            return try await show(request, text.removingPercentEncoding ?? text)
        }
    }

    private static let longestPage = 500
    /// Bytes of the definitions on one page.
    private static let pageBytes = 1024 * 1024

    private func list(_ request: Request) async throws -> Response {
        try check(request)
        let size = try request.number("limit", in: 1...Self.longestPage) ?? Self.longestPage
        let former = try request.uri.queryParameters["cursor"].map { cursor throws(Problem) in
            guard let identifier = CategoryPage.identifier(of: String(cursor)) else {
                throw .badQuery("cursor is not one of this list: use the next of an earlier page.")
            }
            return identifier
        }
        let dynamic = try await asked { () throws(StoreError) in
            try await queue.categories(limit: limit, after: former, upTo: size + 1)
        }
        let page = CategoryPage(statics: statics, dynamic: dynamic, after: former, limit: size, bytes: Self.pageBytes)
        var json = JSONWriter()
        json.beginObject()
        json.key("categories")
        json.beginArray()
        for record in page.records { json.raw(record.definition) }
        json.endArray()
        if let next = page.next { json.member("next", next) }
        json.endObject()
        return Response(cacheable: json.bytes, to: request)
    }

    private func show(_ request: Request, _ identifier: String) async throws -> Response {
        try check(request)
        if let declared = statics.first(where: { $0.identifier == identifier }) {
            return Response(cacheable: declared.definition, to: request)
        }
        let found = try await asked { () throws(StoreError) in try await queue.category(identifier) }
        guard let found else { throw Problem.noCategory(identifier) }
        return Response(cacheable: found.definition, to: request)
    }

    /// Whoever may hand payloads in, and operators.
    private func check(_ request: Request) throws(Problem) {
        if sources.isOpen {
            guard request.head.isFromThisMachine else { throw .foreignPage }
            return
        }
        let isOperator = operators.isGranted(by: request)
        do throws(Problem) {
            _ = try sources.source(named: nil, authorization: request.headers[.authorization])
        } catch {
            guard isOperator else { throw .unauthorized }
        }
    }

    private func asked<T: Sendable>(_ work: () async throws(StoreError) -> T) async throws(Problem) -> T {
        do throws(StoreError) { return try await work() } catch { throw .store(error) }
    }
}

extension Response {
    /// 200 with a body that may be kept and asked after again, or 304 for who has it already (RFC 9110, 13.1.2).
    fileprivate init(cacheable body: [UInt8], to request: Request) {
        let tag = EntityTag(of: body)
        let headers: HTTPFields = [.eTag: tag.text, .cacheControl: "private, no-cache"]
        guard !tag.isNamed(by: request.headers[values: .ifNoneMatch]) else {
            self.init(status: .notModified, headers: headers)
            return
        }
        self = .json(.ok, body)
        for field in headers { self.headers[field.name] = field.value }
    }
}
