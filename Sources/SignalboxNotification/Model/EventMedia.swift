package import SignalboxJSON

/// Writes an event with its media as one destination receives them. Makes the link to each stored file once.
package struct EventMedia {
    /// The downloads by URL, as the store read them.
    private let states: ExactTextMap<MediaState>
    /// Makes the link to a stored file.
    private let href: (MediaFile) -> String
    /// The links to stored files by the URLs of their origin.
    private let links: ExactTextMap<String>

    /// `states`: the downloads by URL. `href`: the link to a file.
    package init(states: ExactTextMap<MediaState>, href: @escaping (MediaFile) -> String) {
        (self.states, self.href) = (states, href)
        links = states.compactMapValues { state in
            if case .stored(let file, _) = state { href(file) } else { nil }
        }
    }

    /// Digests of the files that ``filled(_:)`` links to.
    package var files: [String] {
        Set(states.values.compactMap { if case .stored(let file, _) = $0 { file.sha256 } else { nil } }).sorted()
    }

    /// The event with the result of each download, and with links to stored files in the payload that it shows.
    /// Remarks about files become warnings, whose pointers lead into the event.
    package func filled(_ event: EventDocument) -> [UInt8] {
        event.withRoot { root, _ in
            var json = JSONWriter(reservingCapacity: 4096)
            json.copy(root) { key, data, json in
                guard key.equals("data"), data.isObject else { return false }
                json.key("data" as StaticString)
                write(data, into: &json)
                return true
            }
            return json.bytes
        }
    }

    /// Writes the notification: media with their results, `apns` with links, and the remarks after the other
    /// warnings.
    private func write(_ data: JSONValue, into json: inout JSONWriter) {
        let warnings = warnings(of: data["media"])
        json.copy(data) { key, value, json in
            if key.equals("warnings") { return !warnings.isEmpty }
            if key.equals("media"), value.isArray {
                json.key("media" as StaticString)
                json.array(of: value.elements) { write(item: $1, into: &$0) }
                return true
            }
            guard key.equals("apns") else { return false }
            json.key("apns" as StaticString)
            json.value(value, replacing: links)
            return true
        } ending: { json in
            guard !warnings.isEmpty else { return }
            json.key("warnings" as StaticString)
            json.beginArray()
            if let others = data["warnings"] { for other in others.elements { json.value(other) } }
            for warning in warnings { json.warning(warning) }
            json.endArray()
        }
    }

    /// Writes one medium with the result of its download. A URL without a state is `skipped`.
    private func write(item: JSONValue, into json: inout JSONWriter) {
        let state = item["url"]?.string.flatMap { states[$0] }
        let isStored = if case .stored = state { true } else { false }
        json.copy(item) { key, _, _ in
            key.equals("status") || (isStored && (key.equals("contentType") || key.equals("kind")))
        } ending: { json in
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
        }
    }

    /// The remarks about stored files, in the order of the media.
    private func warnings(of media: JSONValue?) -> [Warning] {
        var warnings: [Warning] = []
        guard let media else { return [] }
        for (position, item) in media.elements.enumerated() {
            guard case .stored(let file, let remarks) = item["url"]?.string.flatMap({ states[$0] }) else { continue }
            for remark in remarks {
                let source = remark == .contentType ? "The server's Content-Type" : "The extension of the URL"
                let message = "\(source) contradicts the content, which is \(file.contentType)."
                warnings.append(Warning(remark.rawValue, at: "/media/\(position)", message))
            }
        }
        return warnings
    }
}

extension JSONValue {
    /// An event without its media and without references to them, for routes with `"media": "none"`.
    package var eventWithoutMedia: [UInt8] {
        var json = JSONWriter(reservingCapacity: 2048)
        json.copy(self) { key, data, json in
            guard key.equals("data"), data.isObject else { return false }
            json.key("data" as StaticString)
            json.copy(data) { key, value, json in
                if key.equals("media") { return true }
                guard key.equals("carousel"), value["items"]?.isArray == true else { return false }
                json.key("carousel" as StaticString)
                json.copy(value) { key, items, json in
                    guard key.equals("items") else { return false }
                    json.key("items" as StaticString)
                    json.array(of: items.elements) { json, item in
                        json.copy(item) { key, _, _ in key.equals("media") }
                    }
                    return true
                }
                return true
            }
            return true
        }
        return json.bytes
    }
}

extension JSONWriter {
    /// Copies an object, except for the members for which `write` returns true: it writes or omits them itself.
    /// `ending` writes further members.
    fileprivate mutating func copy(
        _ object: JSONValue, _ write: (UnsafeBufferPointer<UInt8>, JSONValue, inout JSONWriter) -> Bool,
        ending: (inout JSONWriter) -> Void = { _ in }
    ) {
        beginObject()
        for (key, value) in object.members where !write(key, value, &self) {
            self.key(utf8: key)
            self.value(value)
        }
        ending(&self)
        endObject()
    }

    /// Writes the properties of a stored file into an open object. A file without both dimensions has neither.
    fileprivate mutating func members(of file: MediaFile, href: String) {
        member("status", Media.Status.stored.rawValue)
        member("kind", MediaKind.Family(mediaType: file.contentType)?.rawValue)
        member("contentType", file.contentType)
        member("bytes", file.bytes)
        member("sha256", file.sha256)
        member("href", href)
        if let width = file.width, let height = file.height {
            member("width", width)
            member("height", height)
        }
        // Files that earlier versions stored have one.
        if let milliseconds = file.milliseconds {
            key("duration" as StaticString)
            double(Double(milliseconds) / 1000)
        }
    }

    /// Writes a value with some of its strings replaced.
    fileprivate mutating func value(_ value: JSONValue, replacing links: ExactTextMap<String>) {
        switch value.kind {
        case .object:
            copy(value) { key, member, json in
                json.key(utf8: key)
                json.value(member, replacing: links)
                return true
            }
        case .array: array(of: value.elements) { $0.value($1, replacing: links) }
        case .string: if let link = value.string.flatMap({ links[$0] }) { string(link) } else { self.value(value) }
        default: self.value(value)
        }
    }
}
