import HTTPTypes
import Hummingbird

/// Conditional requests of clients that poll a document.
extension Response {
    /// 200 with a JSON body that clients revalidate, or 304 when the client has it (RFC 9110, 13.1.2). `caching`: the
    /// default permits no shared cache, which must not answer a client that has no token. Clients ask each time,
    /// because the body may change at any moment.
    init(cacheable body: [UInt8], to request: Request, caching: String = "private, no-cache") {
        let tag = EntityTag(of: body)
        let headers: HTTPFields = [.eTag: tag.text, .cacheControl: caching]
        if tag.isListed(in: request.headers[.ifNoneMatch], acceptsWeak: true) {
            self.init(status: .notModified, headers: headers)
        } else {
            self.init(Reply(status: .ok, headers: headers, body: body))
        }
    }
}
