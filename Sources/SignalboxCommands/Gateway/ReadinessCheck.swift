import SignalboxEgress
import SignalboxGateway
import SignalboxJSON

/// Asks a gateway whether it accepts events, for the health checks of containers.
package struct ReadinessCheck: Sendable {
    /// The answer of a gateway, or of the attempt to reach it.
    package enum Answer: Sendable, Equatable {
        /// `GET /readyz` answered 200 as a gateway does: the queue can be written.
        case ready
        /// A sentence.
        case notReady(String)

        /// `{"ready":true,"url":…}`, with a `reason` if it is not ready.
        package func json(_ connection: GatewayConnection) -> String {
            JSONText.members { json in
                json.member("ready", self == .ready)
                json.member("url", connection.address.root)
                if case .notReady(let reason) = self { json.member("reason", reason) }
            }
        }
    }

    private let connection: GatewayConnection
    private let timeout: Duration

    /// `timeout`: for the whole request.
    package init(_ connection: GatewayConnection, timeout: Duration) {
        (self.connection, self.timeout) = (connection, timeout)
    }

    /// Whether a gateway that is ready gave the answer. Many web servers answer 200 to any path.
    private static func isReady(_ reply: OutboundReply) -> Bool {
        reply.status == 200 && JSONParser.read(reply.excerpt) { $0["status"]?.string } == "ready"
    }

    /// Asks once. A gateway that cannot be reached is not ready. Never throws; an interruption counts as not ready.
    package func ask() async -> Answer {
        let request = OutboundRequest(
            method: .get, url: connection.address.root + "/readyz", timeout: timeout, keptBytes: 64 * 1024)
        do throws(CommandFailure) {
            let reply = try await connection.answer(to: request)
            if Self.isReady(reply) { return .ready }
            let reason = reply.status == 200 ? reply.otherServerDetail : reply.detail
            return .notReady("\(connection.address.root) is not ready: \(reason)")
        } catch {
            switch error {
            case .refused(let sentence), .incomplete(let sentence): return .notReady(sentence)
            case .interrupted: return .notReady("Interrupted.")
            }
        }
    }
}
