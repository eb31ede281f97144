import SignalboxJSON

/// A message for a webhook of Microsoft Teams, made by its Workflows app: an Adaptive Card.
///
/// Texts are in `RichTextBlock`, which has no Markdown. A mention needs an entity in `msteams`, which the card never
/// has. The limits keep the message below 28 KB.
///
/// Sources: learn.microsoft.com, "Create incoming webhooks with Workflows", "Format cards in Teams", "Text features
/// in Adaptive Cards"; adaptivecards.io, "RichTextBlock" (version 1.2)
enum TeamsMessage {
    /// Most lines of the body. The last one has the rest of the text.
    private static let lineLimit = 20

    static func json(_ summary: ChatSummary) -> [UInt8] {
        .jsonObject { json in
            json.member("type", "message")
            json.objects("attachments", of: [summary]) { json, summary in
                json.member("contentType", "application/vnd.microsoft.card.adaptive")
                json.key("contentUrl")
                json.null()
                json.object("content") { card(summary, to: &$0) }
            }
        }
    }

    private static func card(_ summary: ChatSummary, to json: inout JSONWriter) {
        json.member("$schema", "http://adaptivecards.io/schemas/adaptive-card.json")
        json.member("type", "AdaptiveCard")
        json.member("version", "1.4")
        json.array("body") { json in
            text(ChatText.plain(summary.title, upTo: 300), size: "large", weight: "bolder", to: &json)
            for line in lines(of: summary.body ?? "") { text(line, to: &json) }
            if let image = summary.image {
                json.object { json in
                    json.member("type", "Image")
                    json.member("url", image)
                }
            }
            text(ChatText.plain(summary.origin, upTo: 300), size: "small", to: &json)
        }
        guard let link = summary.link else { return }
        json.objects("actions", of: [link]) { json, link in
            json.member("type", "Action.OpenUrl")
            json.member("title", "Open")
            json.member("url", link)
        }
    }

    private static func lines(of body: String) -> [String] {
        ChatText.plain(body, upTo: 4_096)
            .split(separator: "\n", maxSplits: lineLimit - 1)
            .map { String($0.replacing("\n", with: " ")) }
    }

    private static func text(_ text: String, size: String? = nil, weight: String? = nil, to json: inout JSONWriter) {
        json.object { json in
            json.member("type", "RichTextBlock")
            json.objects("inlines", of: [text]) { json, text in
                json.member("type", "TextRun")
                json.member("text", text)
                json.member("size", size)
                json.member("weight", weight)
            }
        }
    }
}
