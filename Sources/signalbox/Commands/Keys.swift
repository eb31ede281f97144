import ArgumentParser
import SignalboxCommands
import SignalboxGateway

/// Stores no key: the output is the only copy.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Create keys that sign webhooks.", subcommands: [New.self], defaultSubcommand: New.self)

    /// Prints the secret, and below it the public key of an Ed25519 pair. The secret goes into the config's
    /// reference, the public key to the receivers. Both kinds have 32 random bytes. See ``NewWebhookKey``.
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Print a new key.",
            discussion: """
                Store it where the config's reference points to: an environment variable, or a file that only the gateway \
                can read. Receivers verify with the same whsec_ key, or with the whpk_ key of an Ed25519 pair.
                """)

        /// Without it, sender and receiver share one secret. With it, receivers can verify webhooks but cannot sign
        /// any.
        @Flag(help: "An Ed25519 pair, whsk_ and whpk_, instead of a whsec_ secret.")
        var ed25519 = false
        @Flag(help: "Print one JSON object.") var json = false

        /// Keys come from the system's random generator. The formats are those of Standard Webhooks. Reads no config.
        /// Each run makes another key.
        func run() { print(Results.key(ed25519 ? .ed25519() : .symmetric(), asJSON: json)) }
    }
}
