package import SignalboxJSON
package import SignalboxNotification

/// An event with its media as one destination gets them.
package struct EventMedia {
    private let states: [String: MediaState]
    private let href: (MediaFile) -> String
    /// By URL, the links to what is stored.
    private let links: [String: String]

    /// `states`: what is known of each URL. `href`: where receivers fetch a file.
    package init(states: [String: MediaState], href: @escaping (MediaFile) -> String) {
        self.states = states
        self.href = href
        links = states.compactMapValues { state in
            if case .stored(let file, _) = state { href(file) } else { nil }
        }
    }

    /// Digests of the files that the event points to then.
    package var files: [String] {
        Set(states.values.compactMap { if case .stored(let file, _) = $0 { file.sha256 } else { nil } }).sorted()
    }

    /// The event with what became of its media, and with links to the gateway's copies in the payload that it shows.
    /// What is odd about a file becomes a warning, whose pointer leads into the event.
    package func filled(_ event: JSONValue) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 4096)
        json.object(event) { key, value, json in
            guard key.equals("data"), value.isObject else { return false }
            json.key(utf8: key)
            writeData(value, into: &json)
            return true
        }
        return json.bytes
    }

    private func writeData(_ data: JSONValue, into json: inout JSONWriter) {
        let warnings = warnings(of: data["media"])
        json.beginObject()
        data.forEachMember { key, value in
            // They go where those of others are; where there are none, before the end.
            if key.equals("warnings"), !warnings.isEmpty { return }
            json.key(utf8: key)
            if key.equals("media"), value.isArray {
                json.beginArray()
                for item in value.elements { write(item, into: &json) }
                json.endArray()
            } else if key.equals("apns") {
                json.value(value, replacing: links)
            } else {
                json.value(value)
            }
        }
        if !warnings.isEmpty {
            json.key("warnings" as StaticString)
            json.beginArray()
            if let others = data["warnings"], others.isArray { for other in others.elements { json.value(other) } }
            for warning in warnings { json.warning(warning) }
            json.endArray()
        }
        json.endObject()
    }

    private func write(_ item: JSONValue, into json: inout JSONWriter) {
        let state = item["url"]?.string.flatMap { states[$0] }
        json.beginObject()
        item.forEachMember { key, value in
            if key.equals("status") { return }
            if case .stored = state, key.equals("contentType") { return }
            json.key(utf8: key)
            json.value(value)
        }
        switch state {
        case .stored(let file, _): json.members(of: file, href: href(file))
        case .failed(let failure):
            json.member("status", Media.Status.failed.rawValue)
            json.member("reason", failure.code.rawValue)
        case .pending:
            json.member("status", Media.Status.skipped.rawValue)
            json.member("reason", MediaFailure.Code.late.rawValue)
        case nil: json.member("status", Media.Status.skipped.rawValue)
        }
        json.endObject()
    }

    private func warnings(of media: JSONValue?) -> [Warning] {
        guard let media, media.isArray else { return [] }
        return media.elements.enumerated().flatMap { position, item in
            guard case .stored(let file, let remarks) = item["url"]?.string.flatMap({ states[$0] }) else {
                return [Warning]()
            }
            return remarks.map { Warning($0.rawValue, at: "/data/media/\(position)", $0.words(for: file)) }
        }
    }
}

extension MediaRemark {
    fileprivate func words(for file: MediaFile) -> String {
        switch self {
        case .contentType: "The server names another type than the content has, which is \(file.contentType)."
        case .fileExtension: "The URL ends as that of another type than the content has, which is \(file.contentType)."
        }
    }
}

extension JSONWriter {
    /// Writes an object with those members as they are that `write` does not write itself or leave out, which it says by
    /// true.
    fileprivate mutating func object(
        _ object: JSONValue, _ write: (UnsafeBufferPointer<UInt8>, JSONValue, inout JSONWriter) -> Bool
    ) {
        beginObject()
        for (key, value) in object.members where !write(key, value, &self) {
            self.key(utf8: key)
            self.value(value)
        }
        endObject()
    }

    fileprivate mutating func members(of file: MediaFile, href: String) {
        member("status", Media.Status.stored.rawValue)
        member("contentType", file.contentType)
        key("bytes" as StaticString)
        integer(file.bytes)
        member("sha256", file.sha256)
        member("href", href)
        if let width = file.width, let height = file.height {
            key("width" as StaticString)
            integer(width)
            key("height" as StaticString)
            integer(height)
        }
        if let milliseconds = file.milliseconds {
            key("duration" as StaticString)
            double(Double(milliseconds) / 1000)
        }
    }

    /// Writes a value with other strings in the place of some.
    fileprivate mutating func value(_ value: JSONValue, replacing links: [String: String]) {
        switch value.kind {
        case .object:
            beginObject()
            value.forEachMember { key, member in
                self.key(utf8: key)
                self.value(member, replacing: links)
            }
            endObject()
        case .array:
            beginArray()
            for element in value.elements { self.value(element, replacing: links) }
            endArray()
        case .string:
            if let link = value.string.flatMap({ links[$0] }) { string(link) } else { self.value(value) }
        default: self.value(value)
        }
    }
}

extension JSONValue {
    /// An event without its media, and without what points to them.
    package var eventWithoutMedia: [UInt8] {
        var json = JSONWriter(reservingCapacity: 2048)
        json.object(self) { key, data, json in
            guard key.equals("data"), data.isObject else { return false }
            json.key(utf8: key)
            json.object(data) { key, value, json in
                if key.equals("media") { return true }
                guard key.equals("carousel"), value["items"]?.isArray == true else { return false }
                json.key(utf8: key)
                json.object(value) { key, items, json in
                    guard key.equals("items") else { return false }
                    json.key(utf8: key)
                    json.beginArray()
                    for item in items.elements { json.object(item) { key, _, _ in key.equals("media") } }
                    json.endArray()
                    return true
                }
                return true
            }
            return true
        }
        return json.bytes
    }
}
