import ArgumentParser
import SignalboxCommands

/// The address of a running gateway. The commands that use it read neither a config nor a data directory.
struct GatewayOption: ParsableArguments {
    /// Nil: the environment, then port 8080 of this machine.
    @Option(
        help: "Address of the gateway (SIGNALBOX_URL; default: that of SIGNALBOX_LISTEN, or http://127.0.0.1:8080).")
    var url: String?

    /// Rejects an invalid address. ArgumentParser calls it before the command runs.
    func validate() throws { try checkUsage { if let url { _ = try GatewayURL.read(url, [:]) } } }

    func connection(token: String? = nil) throws -> GatewayConnection {
        GatewayConnection(try GatewayURL.read(url), token: token)
    }
}

/// A running gateway and the token of an operator.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var gateway: GatewayOption

    @Option(
        help: ArgumentHelp(
            "Reference to an admin token, env:NAME or file:PATH (default: env:SIGNALBOX_ADMIN_TOKEN if it is set).",
            valueName: "reference"))
    var adminToken: String?

    /// Rejects a token itself. ArgumentParser would repeat a text that a transformation rejects.
    func validate() throws { try checkUsage { try CommandToken.check(adminToken, option: "--admin-token") } }

    /// Throws for a token that cannot be read.
    func connection() throws -> GatewayConnection {
        try gateway.connection(
            token: try CommandToken.read(adminToken, option: "--admin-token", variable: "SIGNALBOX_ADMIN_TOKEN"))
    }
}
