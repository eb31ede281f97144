import Foundation
import Mustache
import SignalboxJSON
import SignalboxNotification

/// How a template escapes values, so that no value can change the structure of the output.
enum TemplateEscaping: Sendable {
    /// Within a JSON string, as HTML, as XML, percent-encoded, unchanged.
    case json, html, xml, form, text

    /// For the media type of the output. Parameters and case of the media type do not matter. Unknown types are not
    /// escaped.
    init(for contentType: String) {
        let type = contentType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        switch type {
        case _ where type == "application/json" || type == "text/json" || type.hasSuffix("+json"): self = .json
        case "text/html": self = .html
        case _ where type == "text/xml" || type == "application/xml" || type.hasSuffix("+xml"): self = .xml
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
            case .xml: XMLContent.name
            case .text: "TEXT"
            }
        return "{{% CONTENT_TYPE: \(name)}}\n"
    }

    /// The library looks up content types by name in a table of the process.
    private static let isRegistered: Bool = {
        MustacheContentTypes.register(JSONStringContent(), named: JSONStringContent.name)
        MustacheContentTypes.register(FormContent(), named: FormContent.name)
        MustacheContentTypes.register(XMLContent(), named: XMLContent.name)
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

/// Text of an element, or of an attribute in quotes. Characters that XML cannot have, not even as references (XML 1.0,
/// 2.2), become U+FFFD: one of them would make the whole document unreadable.
private struct XMLContent: MustacheContentType {
    static let name = "SIGNALBOX-XML"

    func escapeText(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\t", "\n", "\r", "\u{20}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                escaped.unicodeScalars.append(scalar)
            default: escaped += "\u{FFFD}"
            }
        }
        return escaped
    }
}

/// A value of a URL-encoded form: all but the unreserved characters of RFC 3986 are percent-encoded. A space becomes
/// `%20`, which every reader of forms accepts.
private struct FormContent: MustacheContentType {
    static let name = "SIGNALBOX-FORM"

    func escapeText(_ text: String) -> String { text.percentEncoded }
}
