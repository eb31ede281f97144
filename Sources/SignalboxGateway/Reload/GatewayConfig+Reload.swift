package import Logging
package import SignalboxConfig

extension GatewayConfig {
    /// True if a setting changed that is read at the start only.
    package func needsRestart(after former: GatewayConfig) -> Bool {
        gateway.listen != former.gateway.listen || gateway.dataDirectory != former.gateway.dataDirectory
    }

    /// Logs each warning, without lines of the config, which may hold secrets.
    package func reportWarnings(to logger: Logger) {
        for warning in ConfigReport.lines(of: warnings, in: origin.files) {
            logger.warning("Configuration warning.", metadata: ["problem": "\(warning)"])
        }
    }
}
