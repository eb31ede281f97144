extension GatewayConfig.Source {
    /// The option `expo`: access tokens at the endpoints that are compatible with Expo's push service.
    static let expoTokens = OptionType<[SecretReference]>.section(
        Section([]) {
            Option(
                "tokens", \.self,
                OptionType<SecretReference>.reference.list(of: "references", 1...100, orElse: needsTokens),
                required: needsTokens, "Access tokens, `authorization: Bearer …`.")
        })

    private static let needsTokens = "this needs an array of 1 to 100 references to access tokens, \"tokens\""
}
