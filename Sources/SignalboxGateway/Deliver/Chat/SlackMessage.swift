import SignalboxJSON

/// A message for an incoming webhook of Slack.
///
/// Texts are `plain_text`, so Slack reads no markup in them, and `&`, `<` and `>` are entities, so a text cannot
/// mention a channel or a person. There is no image: Slack rejects the whole message if it cannot load one.
///
/// Sources: docs.slack.dev, "Formatting message text" (escaping), "Text object", "Header block" (150 characters),
/// "Section block" (3,000)
enum SlackMessage {
    static func json(_ summary: ChatSummary) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        // Notifications and old clients show this text instead of the blocks.
        json.member("text", escaped(summary.title, upTo: 3_000))
        json.key("mrkdwn")
        json.bool(false)
        json.key("blocks")
        json.beginArray()
        block("header", escaped(summary.title, upTo: 150), to: &json)
        if let body = summary.body { block("section", escaped(body, upTo: 3_000), to: &json) }
        context(summary, to: &json)
        json.endArray()
        for preview: StaticString in ["unfurl_links", "unfurl_media"] {
            json.key(preview)
            json.bool(false)
        }
        json.endObject()
        return json.bytes
    }

    private static func block(_ type: String, _ text: String, to json: inout JSONWriter) {
        json.beginObject()
        json.member("type", type)
        json.key("text")
        plainText(text, to: &json)
        json.endObject()
    }

    /// The origin and the link. The link has no character that ends it.
    private static func context(_ summary: ChatSummary, to json: inout JSONWriter) {
        json.beginObject()
        json.member("type", "context")
        json.key("elements")
        json.beginArray()
        plainText(escaped(summary.origin, upTo: 300), to: &json)
        if let link = summary.link {
            json.beginObject()
            json.member("type", "mrkdwn")
            json.member("text", "<\(link.replacing("&", with: "&amp;"))>")
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    private static func plainText(_ text: String, to json: inout JSONWriter) {
        json.beginObject()
        json.member("type", "plain_text")
        json.member("text", text)
        json.key("emoji")
        json.bool(false)
        json.endObject()
    }

    private static func escaped(_ text: String, upTo limit: Int) -> String {
        ChatText.escaped(text, upTo: limit) { scalar, _ in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: nil
            }
        }
    }
}
