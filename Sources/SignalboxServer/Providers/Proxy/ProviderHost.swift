/// A host of a push service, to which the proxy opens tunnels that end in the gateway.
package struct ProviderHost: Sendable, Equatable {
    /// The owner of the host, in whose words it answers.
    enum Vendor: Sendable {
        case apple, google, expo
    }

    /// In lower case.
    let name: String
    /// The ports that a tunnel may name. Apple offers 2197 to senders whose firewall blocks other HTTPS traffic.
    let ports: [Int]
    let vendor: Vendor
    /// The APIs that the host serves. It answers any other request with 404.
    let services: Set<ProviderService>
    /// Whether the host is of Apple's development environment.
    var isDevelopment = false

    /// Every host, in the order of messages.
    /// Source: developer.apple.com, "Sending notification requests to APNs" and "Sending channel management requests
    /// to APNs"; firebase.google.com/docs/cloud-messaging; google-auth; firebase-admin; docs.expo.dev
    static let all: [ProviderHost] = [
        ProviderHost(name: "api.push.apple.com", ports: [443, 2197], vendor: .apple, services: [.apnsPushes]),
        ProviderHost(
            name: "api.sandbox.push.apple.com", ports: [443, 2197], vendor: .apple, services: [.apnsPushes],
            isDevelopment: true),
        ProviderHost(
            name: "api.development.push.apple.com", ports: [443, 2197], vendor: .apple, services: [.apnsPushes],
            isDevelopment: true),
        ProviderHost(
            name: "api-manage-broadcast.push.apple.com", ports: [2196], vendor: .apple, services: [.apnsChannels]),
        ProviderHost(
            name: "api-manage-broadcast.sandbox.push.apple.com", ports: [2195], vendor: .apple,
            services: [.apnsChannels], isDevelopment: true),
        ProviderHost(name: "fcm.googleapis.com", ports: [443], vendor: .google, services: [.fcm]),
        ProviderHost(name: "iid.googleapis.com", ports: [443], vendor: .google, services: [.instanceID]),
        ProviderHost(name: "oauth2.googleapis.com", ports: [443], vendor: .google, services: [.accessTokens]),
        // Older libraries of Google request their tokens from the next two.
        ProviderHost(name: "www.googleapis.com", ports: [443], vendor: .google, services: [.accessTokens]),
        ProviderHost(name: "accounts.google.com", ports: [443], vendor: .google, services: [.accessTokens]),
        // google-auth asks it where an account may be used, and ignores a 404.
        ProviderHost(name: "iamcredentials.googleapis.com", ports: [443], vendor: .google, services: []),
        ProviderHost(name: "exp.host", ports: [443], vendor: .expo, services: [.expo]),
    ]

    /// The names of all hosts.
    package static let names = all.map(\.name)

    /// The host of this name, in either case, if it has the port.
    static func named(_ name: some StringProtocol, port: Int) -> ProviderHost? {
        let name = name.lowercased()
        return all.first { $0.name == name && $0.ports.contains(port) }
    }

    /// Whether the authority of a request, with a port or without, is a host of one of the vendors.
    static func isNamed(by authority: String?, of vendors: Set<Vendor>) -> Bool {
        let name = (authority ?? "").prefix { $0 != ":" }.lowercased()
        return all.contains { $0.name == name && vendors.contains($0.vendor) }
    }

    /// The answer to a path that the host does not serve, in the vendor's words.
    func notFound(_ request: ProviderRequest) -> ProviderReply {
        switch vendor {
        case .apple: APNsReply.badPath(request)
        case .google: GoogleError.noSuchMethod.reply
        case .expo: ExpoError.notFound.reply
        }
    }
}

/// An API of a push service. Each one has paths of its own.
enum ProviderService: Sendable {
    /// Pushes and broadcasts of APNs.
    case apnsPushes
    /// Channels of APNs.
    case apnsChannels
    /// Messages and topics of FCM.
    case fcm
    /// Topics of FCM's older API.
    case instanceID
    /// Google's access tokens for service accounts.
    case accessTokens
    /// Expo's pushes and receipts.
    case expo
}
