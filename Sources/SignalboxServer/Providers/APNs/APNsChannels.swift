import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// The management of channels for broadcasts. The queue keeps them, so they survive a restart.
/// Source: developer.apple.com, "Sending channel management requests to APNs"; parse-community/node-apn; APNSwift
struct APNsChannels: Sendable {
    let store: any ChannelStore
    /// Decide who may use a channel.
    let senders: APNsSenders
    /// Logs outages of the store.
    let alarm: QueueAlarm

    /// Apple's limit, for each app.
    static let most = 10_000
    /// The channels of all apps. A source without `topics` may use any number of apps.
    static let mostOfAll = 100_000
    /// Bytes of an identifier.
    private static let largestID = 64

    /// The channel that the header field, or the path, names. Throws for a text that cannot be an identifier.
    static func id(_ text: String?) throws(APNsReason) -> String {
        guard let text, !text.isEmpty else { throw .missingChannelID }
        let isBase64 =
            text.utf8.count <= largestID && text.utf8.count % 4 == 0
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "+/=".utf8.contains($0) }
        guard isBase64 else { throw .badChannelID }
        return text
    }

    /// Runs a request to the store. Its failure becomes the vendor's 503.
    func asking<R>(_ body: () async throws(StoreError) -> R) async throws(APNsReason) -> R {
        do throws(StoreError) { return try await body() } catch {
            _ = alarm.problem(of: .store(error))
            throw .serviceUnavailable
        }
    }

    /// Creates a channel from the body of a request, and returns its identifier.
    func create(for app: String, by source: SourceName, _ body: [UInt8]) async throws(APNsReason) -> String {
        let channel = BroadcastChannel(
            id: Self.newID(), app: app, storesLast: try Self.storesLast(body),
            source: senders.isOpen ? nil : source)
        let isCreated = try await asking { () throws(StoreError) in
            try await store.create(channel, upTo: Self.most, ofAll: Self.mostOfAll)
        }
        guard isCreated else { throw .cannotCreateChannel }
        return channel.id
    }

    /// A known channel of the app, which the source may use.
    func channel(_ id: String, of app: String, for source: SourceName) async throws(APNsReason) -> BroadcastChannel {
        let channel = try await asking { () throws(StoreError) in try await store.channel(id, of: app) }
        // Another source's channel and an unknown one look alike.
        guard let channel, senders.shares(channel, with: source) else { throw .channelNotRegistered }
        return channel
    }

    /// The identifiers of the app's channels that the source may use.
    func list(of app: String, for source: SourceName) async throws(APNsReason) -> [String] {
        try await asking { () throws(StoreError) in try await store.channels(of: app) }
            .filter { senders.shares($0, with: source) }.map(\.id)
    }

    /// Removes a known channel of the app, which the source may use.
    func remove(_ id: String, of app: String, for source: SourceName) async throws(APNsReason) {
        let known = try await channel(id, of: app, for: source)
        let isRemoved = try await asking { () throws(StoreError) in try await store.removeChannel(known.id, of: app) }
        guard isRemoved else { throw .channelNotRegistered }
    }

    /// Reads `{"message-storage-policy": 0 or 1, "push-type": "LiveActivity"}`.
    private static func storesLast(_ body: [UInt8]) throws(APNsReason) -> Bool {
        var limits = JSONParser.Limits()
        limits.depth = 8
        let parser = JSONParser(limits: limits)
        let (type, policy) = try withExtendedLifetime(parser) { () throws(APNsReason) -> (String?, Int64?) in
            guard let root = try? parser.parse(body), root.isObject else { throw .badRequestPayload }
            return (root["push-type"]?.string, root["message-storage-policy"]?.integer)
        }
        guard let type else { throw .missingPushType }
        guard type.lowercased() == "liveactivity" else { throw .invalidPushType }
        switch policy {
        case 0: return false
        case 1: return true
        default: throw .badRequestPayload
        }
    }

    /// 16 random bytes in base64, without the characters that a path would have to escape.
    private static func newID() -> String {
        Data(randomBytes(16)).base64EncodedString().replacing("+", with: "A").replacing("/", with: "B")
    }
}
