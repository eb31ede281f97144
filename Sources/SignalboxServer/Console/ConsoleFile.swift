internal import CResources
import Foundation
import HTTPTypes
import Hummingbird
import SignalboxEgress

/// A file of the console: a page over the public API that operators open in a browser. All files are compiled into
/// the program, and have no data of this gateway.
struct ConsoleFile: Sendable {
    /// With the character set.
    let contentType: String
    /// Sent unchanged.
    let body: [UInt8]
    /// The digest of the body, so a browser loads a file again only after an update. The content type is not part of
    /// it.
    let tag: EntityTag

    private init(_ contentType: String, _ body: [UInt8]) {
        (self.contentType, self.body, tag) = (contentType, body, EntityTag(of: body))
    }

    /// `texts`: files of the program, one after the other.
    private init(_ contentType: String, _ texts: UnsafePointer<CChar>...) {
        self.init(contentType, texts.flatMap { String(cString: $0).utf8 })
    }

    /// The answer to a request for the page itself. Throws ``Problem`` for a host that is not the gateway's.
    static func page(_ call: Call, _ access: BrowserAccess) throws(Problem) -> Response {
        try access.checkHost(of: call.request.head)
        return page.response(to: call.request)
    }

    /// The answer to a request for a file that the page loads. Throws ``Problem`` for an unknown file, and for a host
    /// that is not the gateway's.
    static func file(_ call: Call, _ access: BrowserAccess) throws(Problem) -> Response {
        try access.checkHost(of: call.request.head)
        guard let file = all[call.path("file")] else { throw .notFound(call.request.uri.path) }
        return file.response(to: call.request)
    }

    /// As ``file(_:_:)``, by a path that names the version of the files. Browsers keep the present version without
    /// asking again. A page that was loaded before an update receives the files of the present version.
    static func versioned(_ call: Call, _ access: BrowserAccess) throws(Problem) -> Response {
        var response = try file(call, access)
        if call.path("version") == version { response.headers[.cacheControl] = "public, max-age=31536000, immutable" }
        return response
    }

    /// 200 with the file, or 304 when the client has it.
    func response(to request: Request) -> Response {
        var headers = Self.headers
        headers[.eTag] = tag.text
        if tag.isListed(in: request.headers[.ifNoneMatch], acceptsWeak: true) {
            return Response(status: .notModified, headers: headers)
        }
        return Response(Reply(status: .ok, headers: headers, contentType: contentType, body: body))
    }

    /// The digest of all files. The first 8 bytes of a SHA-256, as 16 hexadecimal digits.
    static let version: String = {
        let tags = all.sorted { $0.key < $1.key }.map(\.value.tag.text).joined()
        return hexadecimal(sha256(Array(tags.utf8)).prefix(8))
    }()

    /// The page names its files by their version.
    private static let page: ConsoleFile = {
        let text = String(cString: sb_index_html())
        let body = text.replacing("=\"console/", with: "=\"assets/\(version)/")
        return ConsoleFile("text/html; charset=utf-8", Array(body.utf8))
    }()

    /// By the name in the path. Digests are computed once, at the first request.
    static let all: [String: ConsoleFile] = {
        let (script, style) = ("text/javascript; charset=utf-8", "text/css; charset=utf-8")
        return [
            "index.html": ConsoleFile("text/html; charset=utf-8", sb_index_html()),
            "icon.svg": ConsoleFile("image/svg+xml; charset=utf-8", sb_icon_svg()),
            // One request for both: the first rendering waits for every style sheet.
            "style.css": ConsoleFile(style, sb_style_css(), sb_preview_css()),
            "h.js": ConsoleFile(script, sb_h_js()),
            "text.js": ConsoleFile(script, sb_text_js()),
            "api.js": ConsoleFile(script, sb_api_js()),
            "ui.js": ConsoleFile(script, sb_ui_js()),
            "app.js": ConsoleFile(script, sb_app_js()),
            "live.js": ConsoleFile(script, sb_live_js()),
            "events.js": ConsoleFile(script, sb_events_js()),
            "event.js": ConsoleFile(script, sb_event_js()),
            "preview.js": ConsoleFile(script, sb_preview_js()),
            "origin.js": ConsoleFile(script, sb_origin_js()),
            "deliveries.js": ConsoleFile(script, sb_deliveries_js()),
            "destinations.js": ConsoleFile(script, sb_destinations_js()),
            "routes.js": ConsoleFile(script, sb_routes_js()),
            "pattern.js": ConsoleFile(script, sb_pattern_js()),
            "lists.js": ConsoleFile(script, sb_lists_js()),
            "settings.js": ConsoleFile(script, sb_settings_js()),
        ]
    }()

    /// Of every file. The policy permits scripts, styles, requests and images of this gateway only, and refuses every
    /// conversion of text to markup or code (Trusted Types). Browsers ask for each file again, with its tag, unless its
    /// path names its version.
    static let headers: HTTPFields = {
        var headers: HTTPFields = [
            .cacheControl: "no-cache", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
            frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
            trusted-types 'none'
            """,
        ]
        headers[text: "referrer-policy"] = "no-referrer"
        headers[text: "cross-origin-opener-policy"] = "same-origin"
        headers[text: "cross-origin-resource-policy"] = "same-origin"
        return headers
    }()
}
