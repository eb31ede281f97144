import Foundation
package import SignalboxConfig
import SignalboxNotification

extension GatewayServer.Addresses {
    /// The lines that `serve` prints when it listens: the addresses, the destinations and a first request, with a line
    /// end. Names an example of the repository if the working directory has it. Has no request if no source may make it
    /// with a token. `config`: the active one. `dataDirectory`: the path of the queue.
    package func greeting(_ config: GatewayConfig, version: String, dataDirectory: String) -> String {
        let example = "Examples/payloads/synerise-simple-push.json"
        let body = FileManager.default.fileExists(atPath: example) ? "@\(example)" : "'{\"aps\":{\"alert\":\"Hello\"}}'"
        let token = config.sources.isEmpty ? "" : " -H \"authorization: Bearer $TOKEN\""
        let scheme = config.gateway.listen.tls == nil ? "http" : "https"
        let endpoints =
            (providers.map { "\nprovider endpoints on \(scheme)://\($0)" } ?? "")
            + (proxy.map { "\nproxy for push services on http://\($0)" } ?? "")
        let names = config.destinations.map(\.name.name).joined(separator: ", ")
        var lines = [
            "signalbox \(version) listening on http://\(http)\(endpoints)",
            "destinations: \(names.isEmpty ? "none" : names); queue: \(dataDirectory)",
        ]
        let hasSender = config.sources.values.contains { source in
            !source.bearer.isEmpty && source.may?.contains(.notifications) ?? true
        }
        if config.sources.isEmpty || hasSender {
            lines.append(
                "Try:  curl -H 'content-type: application/json'\(token) --data \(body) http://\(http)/v1/notifications")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
