import Foundation
import HTTPTypes

/// Protects operators from pages of other sites that their browser shows: such a page can make the browser send
/// requests to the gateway, and can give its own host name the gateway's address (DNS rebinding).
///
/// Applies in addition to tokens. Requests of other clients pass: they have none of the fields that browsers set.
struct BrowserAccess: Sendable {
    /// The host of `gateway.publicUrl`, in lower case; nil without one.
    private let publicHost: String?
    /// Its origin (RFC 6454, 6.2).
    private let publicOrigin: String?

    /// `publicUrl`: `gateway.publicUrl` of the config.
    init(publicUrl: String?) {
        guard let url = publicUrl.flatMap({ URLComponents(string: $0) }), let host = url.host else {
            (publicHost, publicOrigin) = (nil, nil)
            return
        }
        let name = Self.host(of: host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)
        let scheme = url.scheme?.lowercased() ?? "http"
        // Browsers leave the usual port out.
        let port = url.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        (publicHost, publicOrigin) = (name, "\(scheme)://\(name)\(port)")
    }

    /// Throws ``Problem/foreignHost`` unless the request names this machine or the host of `gateway.publicUrl`. The
    /// port does not matter: a name that resolves to another address is foreign on every port. A request that names no
    /// host passes: no browser sends one.
    func checkHost(of head: HTTPRequest) throws(Problem) {
        guard let authority = head.authority else { return }
        let isKnown = Credentials.isLoopback(authority) || (publicHost != nil && Self.host(of: authority) == publicHost)
        guard isKnown else { throw .foreignHost }
    }

    /// Checks a request to an endpoint for operators, after its token. Throws ``Problem/foreignHost``, or
    /// ``Problem/foreignChange`` for a change that the console did not make. A page of another site cannot set
    /// `content-type: application/json` without asking the gateway first, which never permits it. Reads need the host
    /// only: a page of another site cannot read the response, and has no token. Without tokens,
    /// ``Credentials/isFromThisMachine`` rejects its reads.
    func check(_ head: HTTPRequest) throws(Problem) {
        let origin = head.headerFields[.origin]
        let isBrowser = head.headerFields.contains { $0.name.canonicalName.hasPrefix("sec-fetch-") }
        guard origin != nil || isBrowser else { return }
        try checkHost(of: head)
        guard head.method != .get, head.method != .head else { return }
        let site = head.headerFields[text: "sec-fetch-site"] ?? "same-origin"
        let type = (head.headerFields[.contentType] ?? "").prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        guard isOwn(origin, to: head.authority), site == "same-origin" || site == "none",
            type.lowercased() == "application/json"
        else { throw .foreignChange }
    }

    /// Whether a page of this origin is the console. A proxy may rewrite the host, so the public origin counts too. A
    /// request without an origin passes. Scheme and port must be those of the request, or of the public URL.
    private func isOwn(_ origin: String?, to authority: String?) -> Bool {
        guard let origin = origin?.lowercased() else { return true }
        if let publicOrigin, origin == publicOrigin { return true }
        guard let authority = authority?.lowercased() else { return false }
        return origin == "http://" + authority || origin == "https://" + authority
    }

    /// In lower case, without the port and the final dot. An IPv6 address keeps its brackets.
    private static func host(of authority: String) -> String {
        let text = authority.lowercased()
        if text.hasPrefix("[") { return text.prefix { $0 != "]" } + "]" }
        let host = text.prefix { $0 != ":" }
        return String(host.hasSuffix(".") ? host.dropLast() : host)
    }
}
