package import Logging
package import SignalboxConfig

extension GatewayConfig {
    /// True if a setting changed that is read at the start only: listen addresses, data directory, store and media
    /// directory. An absent store equals `sqlite`.
    package func needsRestart(after former: GatewayConfig) -> Bool {
        let (listen, other) = (gateway.listen, former.gateway.listen)
        return listen.http != other.http || listen.apns != other.apns || listen.proxy != other.proxy
            || gateway.dataDirectory != former.gateway.dataDirectory
            || (gateway.store ?? Store()) != (former.gateway.store ?? Store())
            || media.directory != former.media.directory
    }

    /// Logs each warning, without lines of the config, which may hold secrets. One line for each warning, with its
    /// position in the file.
    package func reportWarnings(to logger: Logger) {
        for warning in ConfigReport.lines(of: warnings, in: origin.files) {
            logger.warning("Configuration warning.", metadata: ["problem": "\(warning)"])
        }
    }
}
