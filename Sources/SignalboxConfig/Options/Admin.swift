import SignalboxJSON
import SignalboxNotification

extension GatewayConfig {
    /// Access of people and programs that operate the gateway.
    package struct Admin: Sendable, Equatable {
        /// Tokens with the role `admin`.
        package var bearer: [SecretReference] = []
        /// Tokens with a role, by name.
        package var tokens: [String: Token] = [:]

        /// The tokens of one person or program.
        package struct Token: Sendable, Equatable {
            /// Each of them is accepted, so that a token can be replaced.
            package var bearer: [SecretReference] = []
            /// The rights of the token.
            package var role = OperatorRole.reader
            /// Whether responses have the texts of notifications.
            package var content = true

            /// A token without a reference, which is invalid.
            init() {}
        }
    }
}

/// The rights of a token. Each role includes the former ones. Raw values are those of the config and the API.
package enum OperatorRole: String, Sendable, CaseIterable, Comparable {
    /// Reads metrics.
    case metrics
    /// Reads everything else except payloads and the history of configs.
    case reader
    /// Reads payloads. Changes deliveries, destinations, in-app messages, failure rules and captures.
    case `operator`
    /// Removes deliveries, checks configs and reads their history.
    case admin

    /// Orders roles by their rights: a greater role has all rights of a lesser one.
    package static func < (left: OperatorRole, right: OperatorRole) -> Bool { left.rank < right.rank }

    /// Only compared; the numbers are not stored.
    private var rank: Int {
        switch self {
        case .metrics: 0
        case .reader: 1
        case .operator: 2
        case .admin: 3
        }
    }
}

// MARK: Options

extension GatewayConfig.Admin {
    /// The error for `admin` without any token.
    private static let missing = GatewayConfig.needsToken("operators need") + ", or \"tokens\""
    private static let missingToken = "a token needs a reference to its secret: \"bearer\": \"env:TOKEN\""
    private static let missingRole = "a token needs a \"role\": metrics, reader, operator or admin"

    /// Requires at least one token, so that `admin` never opens the API by mistake.
    static let options = Section(GatewayConfig.Admin(), rules: rules) {
        Option("auth", \.bearer, .auth("operators need"), "Credentials with the role `admin`.")
        Option(
            "tokens", \.tokens, OptionType.section(tokenOptions).dictionary(by: .operators) { $0 },
            "Credentials with a role, by name. The name is the actor in the action log.")
    } check: { admin, value, reader in
        guard value.member("auth") == nil, admin.tokens.isEmpty else { return }
        if reader.mistaken.isDisjoint(with: ["auth", "tokens"]) { reader.note(value, missing) }
    }

    /// The same as the check.
    private static let rules: JSONNode = [
        "anyOf": [["required": ["auth"]], ["required": ["tokens"], "properties": ["tokens": ["minProperties": 1]]]]
    ]

    /// A token has no default role, so that each one is a decision.
    private static let tokenOptions = Section(Token()) {
        Option(
            "bearer", \.bearer, .references, required: missingToken,
            "The bearer token, or several while it is being replaced.")
        Option(
            "role", \.role, .choice("role"), required: missingRole,
            "Its rights: `metrics` reads `/metrics` and `/v1/whoami`, `reader` also everything else except payloads and the history of configs, `operator` also reads payloads and changes deliveries, destinations, in-app messages, failure rules and captures, `admin` also removes deliveries, checks configs and reads their history."
        )
        Option(
            "content", \.content, .flag,
            "With `false`, responses show the structure of events without their texts and without the paths of links.")
    }
}

extension KeyRule {
    /// Names of tokens of operators. `admin` and `local` are the actors of requests without a name.
    fileprivate static var operators: KeyRule {
        KeyRule(
            entries: "a name for each token", plural: "tokens", most: ConfigBounds.entries,
            schema: OptionType<String>.name.info.schema
        ) { name in
            guard NameRule.allows(name) else { return "\"\(name)\" is not a name: \(NameRule.words)" }
            return ["admin", "local"].contains(name)
                ? "\"\(name)\" is the name of tokens without a name; choose another one" : nil
        }
    }
}
