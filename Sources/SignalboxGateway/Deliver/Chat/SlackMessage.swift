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
        .jsonObject { json in
            // Notifications and old clients show this text instead of the blocks.
            json.member("text", escaped(summary.title, upTo: 3_000))
            json.member("mrkdwn", false)
            json.array("blocks") { json in
                block("header", escaped(summary.title, upTo: 150), to: &json)
                if let body = summary.body { block("section", escaped(body, upTo: 3_000), to: &json) }
                context(summary, to: &json)
            }
            json.member("unfurl_links", false)
            json.member("unfurl_media", false)
        }
    }

    private static func block(_ type: String, _ text: String, to json: inout JSONWriter) {
        json.beginObject()
        json.member("type", type)
        json.key("text")
        plainText(text, to: &json)
        json.endObject()
    }

    /// The origin and the link. The link has no character that ends it. It is left out if its escaped text is longer
    /// than a text may be.
    private static func context(_ summary: ChatSummary, to json: inout JSONWriter) {
        json.object { json in
            json.member("type", "context")
            json.array("elements") { json in
                plainText(escaped(summary.origin, upTo: 300), to: &json)
                guard let link = summary.link.map({ "<\($0.replacing("&", with: "&amp;"))>" }),
                    link.utf8.count <= 3_000
                else { return }
                json.object { json in
                    json.member("type", "mrkdwn")
                    json.member("text", link)
                }
            }
        }
    }

    private static func plainText(_ text: String, to json: inout JSONWriter) {
        json.beginObject()
        json.member("type", "plain_text")
        json.member("text", text)
        json.member("emoji", false)
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
