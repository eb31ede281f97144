import SignalboxJSON

/// Hides what people read from JSON that is shown to operators without the right to read content: every text, and the
/// paths of links. The structure stays, with kinds, identifiers, codes and times.
///
/// Members whose values stay are listed, so a member that is added later is hidden until someone decides otherwise.
struct ContentMask {
    /// In place of a text.
    static let hidden = "[hidden]"

    /// Attributes of an event whose values stay; `data` is masked by its own rules.
    private static let attributes: Set<String> = [
        "specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema", "traceparent",
    ]
    /// Members whose string or list of strings stays, wherever they are.
    private static let open: Set<String> = [
        "vendor", "platform", "kind", "vendorKind", "evidence", "also", "identifier", "origin", "type", "vendorType",
        "options", "interruptionLevel", "orientation", "layout", "role", "status", "reason", "contentType", "mode",
        "notBefore", "notAfter", "token", "topic", "code", "path", "id", "messageId", "eventId", "outcome",
    ]
    /// Members whose numbers and keys' values are of the sender's own choice: all their values are hidden.
    private static let foreign: Set<String> = ["custom", "arguments", "extra"]
    /// Options of a config that have conditions on events.
    private static let patterns: Set<Substring> = ["match", "pattern"]

    /// The form of a structured CloudEvent; nil for bytes that are not a JSON object.
    static func event(_ bytes: [UInt8]) -> [UInt8]? {
        read(bytes) { event, json in
            json.object { json in
                for (key, value) in event.members {
                    json.key(utf8: key)
                    let name = String(decoding: key, as: UTF8.self)
                    if attributes.contains(name) { json.value(value) } else { write(value, into: &json) }
                }
            }
        }
    }

    /// The form of an in-app message, whose content has members of the sender's choice; nil for bytes that are not one.
    static func message(_ bytes: [UInt8]) -> [UInt8]? {
        read(bytes) { message, json in
            json.object { json in
                for (key, value) in message.members {
                    json.key(utf8: key)
                    let name = String(decoding: key, as: UTF8.self)
                    write(value, named: name, isForeign: name == "content" || foreign.contains(name), into: &json)
                }
            }
        }
    }

    /// The form of any other object, such as a category; nil for bytes that are not one.
    static func object(_ bytes: [UInt8]) -> [UInt8]? { read(bytes) { value, json in write(value, into: &json) } }

    /// The form of a value of a config, as JSON text. `pointer`: its location; every value within a pattern is
    /// hidden.
    static func configValue(_ text: String, at pointer: String) -> [UInt8] {
        let isPattern = pointer.split(separator: "/").contains { patterns.contains($0) }
        let masked = JSONParser.read(Array(text.utf8)) { value in
            [UInt8].json { write(value, isForeign: isPattern, into: &$0) }
        }
        // A value that was cut is not JSON.
        return masked ?? .json { $0.string(hidden) }
    }

    /// Nil for text that is not JSON, and for JSON that is not an object: the caller then shows none of it.
    private static func read(_ bytes: [UInt8], _ write: (JSONValue, inout JSONWriter) -> Void) -> [UInt8]? {
        JSONParser.read(bytes) { root in root.isObject ? .json(capacity: bytes.count) { write(root, &$0) } : nil }
    }

    /// `name`: of the member that the value belongs to. `isForeign`: within a member of ``foreign``. Numbers and
    /// booleans stay outside of foreign members; null stays everywhere. The identifier of a category stays; that of
    /// a button has the form of ``identifier(_:)``.
    private static func write(
        _ value: JSONValue, named name: String = "", isForeign: Bool = false, into json: inout JSONWriter
    ) {
        if value.isObject {
            let isCategory = value["actions"] != nil
            json.object { json in
                for (key, member) in value.members {
                    json.key(utf8: key)
                    let key = String(decoding: key, as: UTF8.self)
                    if key == "identifier", !isCategory, !isForeign, let text = member.string {
                        json.string(identifier(text))
                    } else {
                        write(member, named: key, isForeign: isForeign || foreign.contains(key), into: &json)
                    }
                }
            }
        } else if value.isArray {
            json.array(of: value.elements) { write($1, named: name, isForeign: isForeign, into: &$0) }
        } else if let text = value.string {
            json.string(!isForeign && open.contains(name) ? text : hide(text))
        } else if isForeign, !value.isNull {
            json.string(hidden)
        } else {
            json.value(value)
        }
    }

    /// A web link keeps its scheme and host, without the user.
    static func hide(_ text: String) -> String { text.isEmpty ? "" : link(text) }

    /// The form of a button's identifier. The gateway makes those that the vendor does not send of the button's type, a
    /// colon, its value, and perhaps its title: hides everything after the first colon as a value.
    static func identifier(_ text: String) -> String {
        // A byte: a combining mark makes another character of the colon.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return text }
        let rest = text.utf8.index(after: colon)
        return "\(text[..<rest])\(hide(String(text[rest...])))"
    }

    /// The form of a link; of any other text too, which is hidden as a whole. Schemes of apps have no host: the text
    /// after them may be an identifier or a token. Hides a link with a host of more than 255 bytes as a whole, and one
    /// whose host is not valid: a text may begin with a link, such as "https://shop.example is closed".
    static func link(_ text: String) -> String {
        guard let end = text.firstRange(of: "://"), ["http", "https"].contains(text[..<end.lowerBound].lowercased())
        else { return hidden }
        // Bytes: a combining mark makes another character of a slash.
        let rest = text[end.upperBound...].utf8.prefix { !"/?#".utf8.contains($0) }
        let host = rest.lastIndex(of: UInt8(ascii: "@")).map { rest[rest.index(after: $0)...] } ?? rest[...]
        guard host.count <= 255, Authority.isValid(Substring(host)) else { return hidden }
        return "\(text[..<end.upperBound])\(Substring(host))/\(hidden)"
    }
}
