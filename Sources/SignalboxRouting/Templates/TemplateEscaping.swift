import Foundation
import Mustache
import SignalboxJSON

/// How values are written into what a template makes, so that none of them can change its structure.
enum TemplateEscaping: String, Sendable {
    case json, html, form, text

    /// Follows from the media type of what is made.
    init(for contentType: String) {
        let type = contentType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        switch type {
        case _ where type == "application/json" || type == "text/json" || type.hasSuffix("+json"): self = .json
        case "text/html", "text/xml", "application/xml": self = .html
        case _ where type.hasSuffix("+xml"): self = .html
        case "application/x-www-form-urlencoded": self = .form
        default: self = .text
        }
    }

    /// The line before a template that makes the library escape so. It stands alone, so nothing is written for it.
    var heading: String {
        _ = Self.isKnown
        let name =
            switch self {
            case .json: JSONStringContent.name
            case .form: FormContent.name
            case .html: "HTML"
            case .text: "TEXT"
            }
        return "{{% CONTENT_TYPE: \(name)}}\n"
    }

    /// The library takes content types by name from a table of the process.
    private static let isKnown: Bool = {
        MustacheContentTypes.register(JSONStringContent(), named: JSONStringContent.name)
        MustacheContentTypes.register(FormContent(), named: FormContent.name)
        return true
    }()
}

/// Text within the quotes of a JSON string.
private struct JSONStringContent: MustacheContentType {
    static let name = "SIGNALBOX-JSON"

    func escapeText(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}

/// A value of a URL-encoded form: everything but RFC 3986's unreserved characters is percent-encoded.
private struct FormContent: MustacheContentType {
    static let name = "SIGNALBOX-FORM"
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    func escapeText(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
    }
}
