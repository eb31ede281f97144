import SignalboxJSON

/// A message for a webhook of Discord.
///
/// `allowed_mentions` is empty, so no text can notify anyone. Characters of Markdown are escaped in the title and the
/// description; Discord shows the footer literally.
///
/// Sources: discord.com/developers/docs, "Execute Webhook", "Allowed Mentions Object", "Embed Limits" (title 256,
/// description 4,096, footer 2,048, all texts 6,000)
enum DiscordMessage {
    static func json(_ summary: ChatSummary) -> [UInt8] {
        .jsonObject { json in
            json.objects("embeds", of: [summary]) { embed($1, to: &$0) }
            json.object("allowed_mentions") { $0.member("parse", []) }
        }
    }

    private static func embed(_ summary: ChatSummary, to json: inout JSONWriter) {
        json.member("title", escaped(summary.title, upTo: 256))
        json.member("description", summary.body.map { escaped($0, upTo: 4_096) })
        json.member("url", summary.link)
        if let image = summary.image { json.object("image") { $0.member("url", image) } }
        json.object("footer") { $0.member("text", ChatText.plain(summary.origin, upTo: 300)) }
    }

    /// A backslash before a character of markup, mentions, emoji names or a URL's scheme; before a hyphen and a plus
    /// only where they would begin a list.
    private static func escaped(_ text: String, upTo limit: Int) -> String {
        ChatText.escaped(text, upTo: limit) { scalar, atLineStart in
            switch scalar {
            case "\\", "`", "*", "_", "~", "|", "<", ">", "[", "]", "(", ")", "#", "@", ":": "\\\(scalar)"
            case "-", "+": atLineStart ? "\\\(scalar)" : nil
            default: nil
            }
        }
    }
}
