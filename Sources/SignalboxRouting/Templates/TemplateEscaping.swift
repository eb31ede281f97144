import Foundation
import Mustache
import SignalboxJSON

/// How a template escapes values, so that no value can change the structure of the output.
enum TemplateEscaping: Sendable {
    /// Within a JSON string, as HTML or XML, percent-encoded, unchanged.
    case json, html, form, text

    /// For the media type of the output. Parameters and case of the media type do not matter. Unknown types are not
    /// escaped.
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

    /// A line that sets this escaping, to precede a template. The library writes no output for it. Registers the
    /// content types with the library at the first access.
    var heading: String {
        _ = Self.isRegistered
        let name =
            switch self {
            case .json: JSONStringContent.name
            case .form: FormContent.name
            case .html: "HTML"
            case .text: "TEXT"
            }
        return "{{% CONTENT_TYPE: \(name)}}\n"
    }

    /// The library looks up content types by name in a table of the process.
    private static let isRegistered: Bool = {
        MustacheContentTypes.register(JSONStringContent(), named: JSONStringContent.name)
        MustacheContentTypes.register(FormContent(), named: FormContent.name)
        return true
    }()
}

/// Text between the quotes of a JSON string. The quotation marks are part of the template.
private struct JSONStringContent: MustacheContentType {
    static let name = "SIGNALBOX-JSON"

    func escapeText(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}

/// A value of a URL-encoded form: all but the unreserved characters of RFC 3986 are percent-encoded. A space becomes
/// `%20`, which every reader of forms accepts.
private struct FormContent: MustacheContentType {
    static let name = "SIGNALBOX-FORM"
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    func escapeText(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
    }
}
