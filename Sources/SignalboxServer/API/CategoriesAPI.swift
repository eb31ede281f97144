import Foundation
import Hummingbird
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// The button sets that an app registers when it starts: those of the config, and those that payloads defined.
struct CategoriesAPI: Sendable {
    /// Has the categories that payloads defined.
    let queue: any IntakeStore
    /// The categories of the config, in the order of their identifiers. They take precedence over those of payloads.
    let statics: [CategoryRecord]
    /// The most categories of payloads that are listed.
    let limit: Int
    /// Schedules the deadlines of requests.
    var delayed = DelayedCall.onQueue

    /// In cursors of categories.
    static let list: StaticString = "c"
    /// The most bytes of the definitions on one page.
    private static let pageBytes = 1024 * 1024

    /// Answers 304 when the client has the page. Throws ``Problem`` for an invalid cursor or limit, and when the
    /// queue does not answer. Lists by identifier. A page ends early when its definitions exceed ``pageBytes``. The
    /// categories of payloads are read from the queue for each page; a category that is seen between two pages may
    /// appear late or be missing. Answers the object `{"categories": […], "next": …}`, without `next` on the last
    /// page.
    func list(_ call: Call) async throws -> Response {
        let size = try call.number("limit", in: 1...QueryParameter.largestPage) ?? QueryParameter.largestPage
        let previous = try call.position(in: Self.list)
        let dynamic = try await delayed.reply { () throws(StoreError) in
            try await queue.categories(limit: limit, after: previous, upTo: size + 1)
        }
        let page = CategoryPage(statics: statics, dynamic: dynamic, after: previous, limit: size, bytes: Self.pageBytes)
        let body = [UInt8].jsonObject { json in
            json.array("categories", of: page.records) { $0.raw(Self.shown($1.definition, to: call)) }
            if let next = page.next { json.member("next", next) }
        }
        return Response(cacheable: body, to: call.request)
    }

    /// Throws ``Problem/noCategory(_:)`` for an unknown identifier. The body is the definition as an app registers
    /// it. Answers 304 when the client has it. Throws 503 when the queue does not answer. A percent escape that is
    /// not valid stays as the client wrote it.
    func show(_ call: Call) async throws -> Response {
        // Identifiers are arbitrary text, and the router does not decode the path.
        let text = call.path("identifier")
        let identifier = text.removingPercentEncoding ?? text
        if let declared = statics.first(where: { $0.identifier.utf8.elementsEqual(identifier.utf8) }) {
            return Response(cacheable: Self.shown(declared.definition, to: call), to: call.request)
        }
        let found = try await delayed.reply { () throws(StoreError) in try await queue.category(identifier) }
        guard let found else { throw Problem.noCategory(identifier) }
        return Response(cacheable: Self.shown(found.definition, to: call), to: call.request)
    }

    /// The definition, without its texts for an operator who may not read content.
    private static func shown(_ definition: [UInt8], to call: Call) -> [UInt8] {
        call.hidesContent ? ContentMask.object(definition) ?? Array("{}".utf8) : definition
    }
}
