import Foundation
import HTTPTypes
import Hummingbird
import SignalboxEgress
import SignalboxJSON
package import SignalboxModel
package import SignalboxStore

/// The sets of buttons that an app registers with its system when it starts: those that payloads defined, and those that
/// the config declares. For sources and operators; apps ask through their own back ends.
package struct CategoriesAPI: Sendable {
    private let queue: SQLiteQueue
    private let sources: SourceAccess
    private let operators: AdminAccess
    private let statics: [CategoryRecord]
    private let limit: Int

    /// `statics`: those of the config, in the order of their identifiers; they win over what payloads called the same.
    /// `limit`: the most of the others in one answer.
    package init(
        queue: SQLiteQueue, sources: SourceAccess, operators: AdminAccess, statics: [CategoryRecord], limit: Int
    ) {
        self.queue = queue
        self.sources = sources
        self.operators = operators
        self.statics = statics
        self.limit = limit
    }

    /// What may be asked of each address, as the `allow` header says it.
    static let addresses: [(path: RouterPath, allow: String)] = [
        ("/v1/categories", "GET, HEAD"), ("/v1/categories/{identifier}", "GET, HEAD"),
    ]

    func add(to router: Router<BasicRequestContext>) {
        router.get("/v1/categories") { request, _ in try await list(request) }
        router.get("/v1/categories/{identifier}") { request, context in
            // The router hands on what stands in the address; identifiers are any text.
            let text = context.parameters.get("identifier") ?? ""
            return try await show(request, text.removingPercentEncoding ?? text)
        }
    }

    private func list(_ request: Request) async throws -> Response {
        try check(request)
        let dynamic = try await asked { () throws(StoreError) in try await queue.categories(limit: limit) }
        let declared = Set(statics.map(\.identifier))
        let all = statics + dynamic.filter { !declared.contains($0.identifier) }
        var json = JSONWriter()
        json.beginObject()
        json.key("categories")
        json.beginArray()
        // In an order of their own: the digest of the same set is the same.
        for record in all.sorted(by: { $0.identifier < $1.identifier }) { json.raw(record.definition) }
        json.endArray()
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
