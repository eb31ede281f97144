internal import CResources
import Mustache
import SignalboxConfig
package import SignalboxJSON

/// A Mustache template that makes a message from an event. Its initialiser renders it with two sample events, so that
/// most mistakes are found when the config is read.
///
/// The context is the stored event; names are looked up from the innermost section outwards. Values are escaped for
/// the content type, and output that claims to be JSON is checked.
/// Source: mustache.github.io/mustache.5.html, without partials and lambdas
package struct EventTemplate: Sendable, Equatable {
    /// The template as written.
    package let body: String
    /// Media type of the output. It decides how values are escaped.
    package let contentType: String
    /// Immutable, so tasks share it.
    private let template: MustacheTemplate
    private let escaping: TemplateEscaping

    /// Largest output, in bytes.
    package static let outputLimit = 4 * 1024 * 1024
    /// The most work of one rendering, in units of ``TemplateBudget``.
    static let workLimit = 2 * outputLimit

    /// An event with all members that an event can have, and one with the required members only.
    package static let samples = [sb_whole_json(), sb_least_json()].map { Array(String(cString: $0).utf8) }

    /// Compiles a template. Throws if it is invalid, or if a sample event cannot be rendered. The message of the
    /// error names the sample that failed. Renders both samples, so it is for the reading of a config, not for each
    /// event.
    package init(body: String, contentType: String) throws(InvalidTemplate) {
        (self.body, self.contentType) = (body, contentType)
        escaping = TemplateEscaping(for: contentType)
        guard body.utf8.count <= TemplateSource.sizeLimit else {
            throw InvalidTemplate(message: "it has more than \(TemplateSource.sizeLimit / 1024) KiB; shorten it")
        }
        try TemplateScan.check(body)
        do {
            template = try MustacheTemplate(string: escaping.heading + body)
        } catch {
            throw InvalidTemplate(error)
        }
        let names = ["a full sample event", "a sample event that has only the required members"]
        for (sample, name) in zip(Self.samples, names) { try render(sample: sample, called: name) }
    }

    /// Compares the texts, because the compiled form follows from them.
    package static func == (left: EventTemplate, right: EventTemplate) -> Bool {
        left.body == right.body && left.contentType == right.contentType
    }

    /// The message for an event. Throws if it is too large, or is not JSON although its type says so. Resets the
    /// parser. Deterministic: equal events make equal bytes. Safe to call from any number of tasks, each with a
    /// parser of its own.
    package func render(_ event: [UInt8], with parser: JSONParser) throws(RenderingFailure) -> [UInt8] {
        var allowance = VariantAllowance()
        return try render(parser.parse(event: event), within: &allowance, with: parser)
    }

    /// The message for a parsed event, which must belong to `parser`. A JSON output is parsed without a reset of the
    /// parser, so the event's values stay valid. `allowance`: counts the work.
    func render(
        _ event: JSONValue, within allowance: inout VariantAllowance, with parser: JSONParser
    ) throws(RenderingFailure) -> [UInt8] {
        let isLast = allowance.work < Self.workLimit
        let budget = TemplateBudget(min(Self.workLimit, allowance.work), element: body.utf8.count + 1)
        let text = template.render(TemplateValue(value: event, budget: budget))
        let output = Array(text.utf8)
        allowance.take(work: budget.spent)
        guard !budget.isSpent, output.count <= Self.outputLimit else { throw isLast ? .exhausted : .tooLarge }
        guard escaping == .json else { return output }
        _ = try parser.parse(output) { RenderingFailure($0, in: output) }
        return output
    }

    /// Renders a sample. Throws the failure as a mistake of the template. A value that only some events have is the
    /// usual reason, so the message has advice for that case.
    private func render(sample: [UInt8], called name: String) throws(InvalidTemplate) {
        do throws(RenderingFailure) {
            _ = try render(sample, with: JSONParser())
        } catch {
            guard case .notJSON(let position) = error else {
                throw InvalidTemplate(message: "\(error), tried with \(name)")
            }
            throw InvalidTemplate(
                message: "output is not valid JSON\(RenderingFailure.words(position)), tried with \(name)"
                    + "; put a value that may be missing in quotes or in {{#name}}…{{/name}}")
        }
    }
}

/// Why a text is not a valid template. The config reports it at the option that holds the template.
package struct InvalidTemplate: Error, Sendable, Equatable {
    /// Within the template, if known.
    package var position: TextPosition?
    /// The mistake and its remedy, without a full stop.
    package let message: String
}

/// Words for the errors of the library, whose own messages name its types.
extension InvalidTemplate {
    /// `error`: the error of the Mustache library, which read one line before the template. Its own line numbers start
    /// with the heading, so this subtracts one.
    fileprivate init(_ error: any Error) {
        guard let error = error as? MustacheTemplate.ParserError else {
            self.init(message: "it is not a Mustache template")
            return
        }
        let message =
            switch error.error as? MustacheTemplate.Error {
            case .sectionCloseNameIncorrect: "this does not close the section that was opened last; write its name here"
            case .unfinishedName:
                "this tag is malformed; a name has letters, digits, - _ ? * and dots, and two closing braces"
            case .expectedSectionEnd: "a section is not closed; it needs {{/name}} with its name"
            case .invalidSetDelimiter: "new delimiters are written as {{=<% %>=}}"
            default: "the template ends within a tag"
            }
        self.init(
            position: TextPosition(line: error.context.lineNumber - 1, column: error.context.columnNumber),
            message: message)
    }
}
