import Foundation
package import SignalboxConfig
import SignalboxNotification

extension GatewayServer.Addresses {
    /// The lines that `serve` prints when it listens: the addresses, the destinations and a first request, with a line
    /// end. Names an example of the repository if the working directory has it. `config`: the active one.
    /// `dataDirectory`: the path of the queue.
    package func greeting(_ config: GatewayConfig, version: String, dataDirectory: String) -> String {
        let example = "Examples/payloads/synerise-simple-push.json"
        let body = FileManager.default.fileExists(atPath: example) ? "@\(example)" : "'{\"aps\":{\"alert\":\"Hello\"}}'"
        let token = config.sources.isEmpty ? "" : " -H \"authorization: Bearer $TOKEN\""
        let scheme = config.gateway.listen.tls == nil ? "http" : "https"
        let endpoints =
            (providers.map { "\nprovider endpoints on \(scheme)://\($0)" } ?? "")
            + (proxy.map { "\nproxy for push services on http://\($0)" } ?? "")
        return """
            signalbox \(version) listening on http://\(http)\(endpoints)
            destinations: \(config.destinations.map(\.name.name).joined(separator: ", ")); queue: \(dataDirectory)
            Try:  curl -H 'content-type: application/json'\(token) --data \(body) http://\(http)/v1/notifications

            """
    }
}
