import SignalboxJSON

/// The URL of a webhook as the config writes it.
enum WebhookURL: Sendable {
    /// A URL that the config may show.
    case text(String)
    /// A URL that grants access by itself, as those of chat services do.
    case secret(SecretReference)

    /// A text that begins like a reference is a reference. Errors about it never show the value.
    static var type: OptionType<WebhookURL> {
        let (url, reference) = (OptionType<String>.url, OptionType<SecretReference>.reference)
        return OptionType(TypeInfo("URL, or reference", ["anyOf": [url.info.schema, reference.info.schema]])) {
            value, reader in
            guard let text = value.string, text.hasPrefix("env:") || text.hasPrefix("file:") else {
                return url.read(value, &reader).map { .text($0) }
            }
            return reference.read(value, &reader).map { .secret($0) }
        }
    }
}
