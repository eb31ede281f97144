import SignalboxJSON

/// The text of a Mustache template, not yet compiled.
package struct TemplateSource: Sendable, Equatable {
    /// Largest template, in bytes.
    package static let sizeLimit = 64 * 1024

    /// UTF-8 of at most ``sizeLimit`` bytes; empty only while the config has errors.
    package var body: String
    /// Media type of the output; values are escaped for it.
    package var contentType = "application/json"
    /// The option with the template or its file.
    package var location = ConfigLocation(pointer: "")
    /// The file it was read from; nil for a template in the config itself.
    package var file: String?

    /// `option`: with the members `body` or `file`. Errors of a compiled template point there.
    func located(at option: ConfigLocation) -> TemplateSource {
        var source = self
        source.location = option.appending(file == nil ? "body" : "file")
        return source
    }
}

// MARK: Options

extension TemplateSource {
    /// The text comes from the config or from a file, which is read with the config. Nil after any error.
    static var type: OptionType<TemplateSource> {
        OptionType(TypeInfo("object", options.schema, members: options.infos)) { value, reader in
            let problem = "a template is either in \"body\" or in a \"file\"; write one of them"
            let errors = reader.diagnostics.errorCount
            guard reader.hasEither(["body", "file", "contentType"], in: value, orElse: problem),
                let template = options.read(value, &reader), reader.diagnostics.errorCount == errors
            else { return nil }
            return template
        }
    }

    /// The media type decides how values are escaped; JSON by default.
    private static let options = Section(
        TemplateSource(body: ""), rules: ["oneOf": [["required": ["body"]], ["required": ["file"]]]]
    ) {
        Option("body", \.body, .text, "The template.")
        Option("file", \.file, .path, "The file of the template.")
        Option("contentType", \.contentType, mediaType, "Media type of the body. Values are escaped for it.")
    } check: { template, value, reader in
        if let path = template.file, let member = value["file"] { template.body = read(path, member, &reader) }
    }

    /// Returns an empty text after an error. Records the path for the watch of the config. Accepts at most
    /// ``sizeLimit`` bytes of UTF-8.
    private static func read(_ path: String, _ value: JSONValue, _ reader: inout ConfigReader) -> String {
        if !reader.templateFiles.contains(path) { reader.templateFiles.append(path) }
        // One byte beyond the limit shows that the template is too large.
        let data: [UInt8]
        do throws(UnreadableFile) { data = try ConfigText.contents(of: path, upTo: sizeLimit + 1) } catch {
            reader.note(value, "the file \(path) cannot be read: \(error.reason); it should contain the template")
            return ""
        }
        if data.count > sizeLimit {
            reader.note(value, "the file \(path) has more than \(sizeLimit / 1024) KiB; shorten the template")
        } else if let body = String(validating: data, as: UTF8.self), !body.isEmpty {
            return body
        } else {
            let problem = data.isEmpty ? "empty" : "not UTF-8"
            reader.note(value, "the file \(path) is \(problem); it should contain the template")
        }
        return ""
    }

    /// The media type becomes a header, so it has visible ASCII only.
    private static let mediaType = OptionType<String>.value(
        TypeInfo("media type", ["type": "string", "pattern": "^[ -.0-~]+/[ -.0-~]+$"]),
        expected: "this must be a media type such as \"application/json\" or \"text/plain; charset=utf-8\"",
        write: { .string($0) }
    ) { value in
        guard let text = value.string else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? text : nil
    }
}
