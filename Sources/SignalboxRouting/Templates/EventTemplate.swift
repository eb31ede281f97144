import Mustache
import SignalboxConfig
package import SignalboxJSON

/// A Mustache template that makes a message out of an event. One that exists has been rendered with sample events.
///
/// The context is the event as it is stored; names climb from the innermost section outwards. Values are escaped for the
/// content type, and what claims to be JSON is checked to be.
/// Source: mustache.github.io/mustache.5.html, without partials and lambdas
package struct EventTemplate: Sendable, Equatable {
    package let body: String
    package let contentType: String
    private let template: MustacheTemplate
    private let escaping: TemplateEscaping

    /// Bytes of a template.
    static let sizeLimit = TemplateSource.sizeLimit
    /// Bytes of what it makes.
    package static let outputLimit = 4 * 1024 * 1024

    /// What templates are tried out on: an event with everything that an event can have, and one with nothing of it.
    package static let samples = [PackageResources.whole_json, PackageResources.least_json]

    package init(body: String, contentType: String) throws(InvalidTemplate) {
        self.body = body
        self.contentType = contentType
        escaping = TemplateEscaping(for: contentType)
        guard body.utf8.count <= Self.sizeLimit else {
            throw InvalidTemplate(message: "it has more than \(Self.sizeLimit / 1024) KiB; shorten it")
        }
        try TemplateScan.check(body)
        do {
            template = try MustacheTemplate(string: escaping.heading + body)
        } catch {
            throw InvalidTemplate(error)
        }
        try tryOut(on: Self.samples[0], called: "an event that has everything")
        try tryOut(on: Self.samples[1], called: "an event that has only what every event has")
    }

    package static func == (left: EventTemplate, right: EventTemplate) -> Bool {
        left.body == right.body && left.contentType == right.contentType
    }

    /// Writes the message for an event, which must be of this parser. Fails when that is too large, or JSON by its type and
    /// not by its text.
    package func render(_ event: JSONValue, with parser: JSONParser) throws(RenderingFailure) -> [UInt8] {
        let budget = TemplateBudget(2 * Self.outputLimit, element: body.utf8.count + 1)
        let text = template.render(TemplateValue(value: event, budget: budget))
        let output = Array(text.utf8)
        guard !budget.isSpent, output.count <= Self.outputLimit else { throw .tooLarge }
        guard escaping == .json else { return output }
        do throws(JSONError) {
            _ = try parser.parse(output)
        } catch {
            throw .notJSON(error.offset.map { TextPosition(offset: $0, in: output) })
        }
        return output
    }

    private func tryOut(on event: [UInt8], called name: String) throws(InvalidTemplate) {
        let parser = JSONParser()
        guard let event = try? parser.parse(event) else { preconditionFailure("A sample event is no JSON.") }
        do throws(RenderingFailure) {
            _ = try render(event, with: parser)
        } catch {
            let advice =
                switch error {
                case .tooLarge: ""
                case .notJSON: "; a value that may be missing stands in quotes, or in {{#name}}…{{/name}}"
                }
            throw InvalidTemplate(message: "of \(name), \(error)\(advice)")
        }
    }
}

/// Why an event did not become a message by a template.
package enum RenderingFailure: Error, Sendable, Equatable, CustomStringConvertible {
    case tooLarge
    case notJSON(TextPosition?)

    package var description: String {
        switch self {
        case .tooLarge: "the template makes more than \(EventTemplate.outputLimit / 1024 / 1024) MiB"
        case .notJSON(let position):
            "the template makes what is no JSON"
                + (position.map { " from line \($0.line), column \($0.column) of the output on" } ?? "")
        }
    }
}

/// Why a text is no template.
package struct InvalidTemplate: Error, Sendable, Equatable {
    /// Within the template, where known.
    package var position: TextPosition?
    /// What is wrong and what to do, without a full stop.
    package let message: String
}

extension InvalidTemplate {
    /// By the error of the library, for which a line stood before the template.
    fileprivate init(_ error: any Error) {
        guard let error = error as? MustacheTemplate.ParserError else {
            self.init(message: "it is no Mustache template")
            return
        }
        let message =
            switch error.error as? MustacheTemplate.Error {
            case .sectionCloseNameIncorrect: "this closes another section than was opened last, or none"
            case .unfinishedName:
                "this tag is malformed; a name has letters, digits, - _ ? * and dots, and two braces behind it"
            case .expectedSectionEnd: "a section is not closed; it needs {{/name}} with its name"
            case .invalidSetDelimiter: "new delimiters are written as {{=<% %>=}}"
            default: "the template ends within a tag"
            }
        self.init(
            position: TextPosition(line: error.context.lineNumber - 1, column: error.context.columnNumber),
            message: message)
    }
}
