import Foundation
import SignalboxJSON

/// What the messages of a destination look like.
extension ConfigReader {
    static let formatKeys = ["format", "template", "compression", "batch"]

    mutating func format(_ destination: JSONValue, at location: ConfigLocation) -> Destination.Format {
        let name = destination["format"].flatMap { formatName($0) } ?? "cloudevents"
        // Read whatever the format is, so that every mistake is found.
        let template = destination["template"].flatMap { self.template($0, at: location.appending("template")) }
        let batch = destination["batch"].map { self.batch($0) }
        if let value = destination["template"], name != "template" {
            note(value, "a template needs \"format\": \"template\"")
        }
        if let value = destination["batch"], name != "cloudevents-batch" {
            note(value, "the format \"\(name)\" has one event in a request; batches need \"cloudevents-batch\"")
        }
        switch name {
        case "cloudevents-binary": return .cloudEventsBinary
        case "cloudevents-batch": return .cloudEventsBatch(batch ?? Destination.Batch())
        case "standard-webhooks": return .standardWebhooks
        case "raw": return .raw
        case "template":
            if let template { return .template(template) }
            if destination["template"] == nil {
                let example = "{\"file\": \"/etc/signalbox/crm.mustache\"}"
                note(destination, "this format needs a \"template\", such as " + example)
            }
            return .cloudEvents
        default: return .cloudEvents
        }
    }

    private mutating func formatName(_ value: JSONValue) -> String? {
        guard let name = text(value) else { return nil }
        guard Destination.Format.names.contains(name) else {
            let suggestion = Self.suggestion(for: name, among: Destination.Format.names)
            note(value, "there is no format \"\(name)\"" + suggestion)
            return nil
        }
        return name
    }

    mutating func compression(_ value: JSONValue) -> Destination.Compression? {
        guard let compression = value.string.flatMap({ Destination.Compression(rawValue: $0) }) else {
            note(value, "there is only one compression; write \"gzip\", or leave it out")
            return nil
        }
        return compression
    }

    // MARK: Batches

    private mutating func batch(_ value: JSONValue) -> Destination.Batch {
        var batch = Destination.Batch()
        guard isObject(value, keys: ["count", "bytes", "age"]) else { return batch }
        if let count = value["count"] { batch.count = whole(count, in: 1...1000) ?? batch.count }
        if let bytes = value["bytes"] {
            batch.bytes = byteCount(bytes, in: 1000...16_000_000, example: "256KB") ?? batch.bytes
        }
        if let age = value["age"] {
            batch.age = duration(age, in: .milliseconds(1)...(.seconds(60)), example: "1s") ?? batch.age
        }
        return batch
    }

    private mutating func byteCount(_ value: JSONValue, in range: ClosedRange<Int>, example: String) -> Int? {
        guard let count = value.string.flatMap({ ByteCount.read($0) }), range.contains(count) else {
            let bounds = "from \(ByteCount.text(range.lowerBound)) to \(ByteCount.text(range.upperBound))"
            note(value, "this must be a size such as \"\(example)\", with B, KB, MB, KiB or MiB, \(bounds)")
            return nil
        }
        return count
    }

    // MARK: Templates

    private mutating func template(_ value: JSONValue, at location: ConfigLocation) -> TemplateSource? {
        guard isObject(value, keys: ["body", "file", "contentType"]) else { return nil }
        let contentType = value["contentType"].map { mediaType($0) } ?? "application/json"
        guard var template = templateSource(value, at: location), let contentType else { return nil }
        template.contentType = contentType
        return template
    }

    private mutating func templateSource(_ value: JSONValue, at location: ConfigLocation) -> TemplateSource? {
        switch (value["body"], value["file"]) {
        case (let body?, nil):
            return text(body).map { TemplateSource(body: $0, location: location.appending("body")) }
        case (nil, let file?):
            guard let path = line(file) else { return nil }
            if !templateFiles.contains(path) { templateFiles.append(path) }
            // One byte beyond the limit shows that the template is too large.
            guard let data = ConfigText.beginning(of: path, upTo: TemplateSource.sizeLimit + 1) else {
                note(file, "the file \(path) cannot be read; it should hold the template")
                return nil
            }
            guard data.count <= TemplateSource.sizeLimit else {
                note(
                    file, "the file \(path) has more than \(TemplateSource.sizeLimit / 1024) KiB; shorten the template")
                return nil
            }
            guard let body = String(validating: data, as: UTF8.self), !body.isEmpty else {
                note(file, "the file \(path) is \(data.isEmpty ? "empty" : "no UTF-8"); it should hold the template")
                return nil
            }
            return TemplateSource(body: body, location: location.appending("file"), file: path)
        default:
            note(value, "a template is either in \"body\" or in a \"file\"; write one of them")
            return nil
        }
    }

    private mutating func mediaType(_ value: JSONValue) -> String? {
        let parts = value.string?.split(separator: "/", omittingEmptySubsequences: false)
        // It becomes a header.
        guard let text = value.string, let parts, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            note(value, "this must be a media type such as \"application/json\" or \"text/plain; charset=utf-8\"")
            return nil
        }
        return text
    }
}
