import SignalboxEgress
package import SignalboxNotification

/// A push of a sender, as the gateway sends it on to the real push service.
package struct ForwardedPush: Sendable {
    /// The push services that the gateway forwards to.
    package enum Provider: String, Sendable, CaseIterable {
        case apns, fcm
    }

    /// The service that the request is for.
    package let provider: Provider
    /// The source that the sender proved to be.
    package let source: SourceName
    /// The id of the stored event of this push.
    package var event: String
    /// The request target with its query, without prefixes of the gateway's own.
    package var path: String
    /// The sender's fields, in their order, without those of its connection; see ``forwards(_:)``.
    package var headers: [(name: String, value: String)] = []
    /// The body as sent.
    package var body: [UInt8]
    /// Identifies the credential, such as key and team of an APNs token. Pushes with equal ones share a connection.
    package var credential: [UInt8] = []
    /// See ``ProviderPush/repeatKey``. A repeat with the same path, fields and body gets the recorded verdict.
    package var repeatKey: String?
    /// True for a request to Apple's development environment.
    package var isSandbox = false
    /// The addressee as the event shows it.
    package var target = PushNotification.Target()

    /// A POST without fields. Set the other properties afterwards.
    package init(_ provider: Provider, from source: SourceName, event: String, path: String, body: [UInt8]) {
        self.provider = provider
        self.source = source
        self.event = event
        self.path = path
        self.body = body
    }

    /// The fields of a request to forward, in their order: those that ``forwards(_:)`` permits, without those that a
    /// `connection` field names. `headers`: names in lower case.
    package static func forwarded(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
        let options = OutboundRequest.connectionOptions(in: headers)
        return headers.filter { forwards($0.name) && !options.contains($0.name) }
    }

    /// False for fields that concern the connection between two neighbours (RFC 9110, 7.6.1), and for those of the
    /// gateway. `accept-encoding` is not forwarded either, so that the gateway can read the verdict. `name`: in lower
    /// case.
    package static func forwards(_ name: String) -> Bool {
        switch name {
        case "host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer",
            "transfer-encoding", "upgrade", "http2-settings", "content-length", "expect", "accept-encoding":
            false
        default: !name.hasPrefix("signalbox-") && !name.hasPrefix(":")
        }
    }
}
