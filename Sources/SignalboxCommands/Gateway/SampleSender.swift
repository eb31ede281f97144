import SignalboxEgress
import SignalboxGateway
package import SignalboxJSON
package import SignalboxNotification

/// Sends example payloads to a running gateway, for `signalbox send`.
package struct SampleSender: Sendable {
    private let connection: GatewayConnection
    /// Part of the path of each request; nil posts to `/v1/notifications`.
    private let source: SourceName?

    /// The most bytes of a receipt.
    private static let longestReply = 1 << 20

    /// `source`: the source in the path; nil if the token determines it.
    package init(_ connection: GatewayConnection, source: SourceName?) {
        (self.connection, self.source) = (connection, source)
    }

    /// Sends one payload; returns the receipt, as the API words it. Throws ``CommandFailure/incomplete(_:)`` with the
    /// reason when the gateway rejects the payload, and ``CommandFailure/refused(_:)`` for a wrong token or address,
    /// and if another server answers. Waits for the answer at most a minute.
    package func send(_ payload: JSONText) async throws(CommandFailure) -> JSONText {
        guard let endpoint = GatewayAddress(connection.address.root, source: source) else {
            throw .refused("Invalid gateway address: use http://HOST:PORT or https://HOST.")
        }
        let reply = try await connection.answer(
            to: OutboundRequest(
                url: endpoint.url, headers: connection.headers([("content-type", "application/json")]),
                body: payload.bytes, timeout: .seconds(60), keptBytes: Self.longestReply))
        guard reply.status == 202 else {
            if reply.isAboutAccess {
                throw .refused("\(reply.detail) Pass the token of a source with --token or SIGNALBOX_TOKEN.")
            }
            let isRejection = reply.status != 404 && JSONParser.read(reply.excerpt) { $0["code"]?.string } != nil
            throw isRejection ? CommandFailure.incomplete(reply.detail) : .refused(reply.detail)
        }
        guard let receipt = JSONParser.read(reply.excerpt, { $0["id"]?.string == nil ? nil : JSONText($0) }) else {
            throw .refused(
                "\(connection.address.root) answered 202, but not as a Signalbox gateway does; check the address.")
        }
        return receipt
    }

    /// The receipt as a line: id, vendor and kind, destinations and routes. Control characters become spaces. `?`
    /// replaces an absent value.
    package static func line(_ receipt: JSONText) -> String {
        receipt.withValue { root in
            func list(_ name: String) -> String {
                (root.member(name)?.elements.compactMap(\.string) ?? []).joined(separator: ", ")
            }
            let destinations = list("destinations")
            return EventLine.printable(
                "\(root["id"]?.string ?? "?")  \(root["vendor"]?.string ?? "?")/\(root["kind"]?.string ?? "?")  -> "
                    + (destinations.isEmpty ? "no destination" : "\(destinations)  (routes: \(list("routes")))"))
        } ?? receipt.string
    }
}
