import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// The management of channels for broadcasts. The queue keeps them, so they survive a restart.
/// Source: developer.apple.com, "Sending channel management requests to APNs"; parse-community/node-apn; APNSwift
struct APNsChannels: Sendable {
    /// Its failures become ``APNsReason/serviceUnavailable``; see ``asking(_:)``.
    let store: any ChannelStore
    /// Decide who may use a channel.
    let senders: APNsSenders
    /// Logs outages of the store.
    let alarm: QueueAlarm

    /// Apple's limit, for each app.
    static let most = 10_000
    /// The channels of all apps. A source without `topics` may use any number of apps.
    static let mostOfAll = 100_000
    /// The most bytes of an identifier.
    private static let largestID = 64

    /// The channel that the header field, or the path, names. Throws ``APNsReason/missingChannelID`` for nil and empty
    /// text, and ``APNsReason/badChannelID`` for text that is not base64 of at most 64 bytes.
    static func id(_ text: String?) throws(APNsReason) -> String {
        guard let text, !text.isEmpty else { throw .missingChannelID }
        let isBase64 =
            text.utf8.count <= largestID && text.utf8.count % 4 == 0
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "+/=".utf8.contains($0) }
        guard isBase64 else { throw .badChannelID }
        return text
    }

    /// Runs a request to the store. Its failure becomes the vendor's 503. The alarm logs the first failure of an outage
    /// only.
    func asking<R>(_ body: () async throws(StoreError) -> R) async throws(APNsReason) -> R {
        do throws(StoreError) { return try await body() } catch {
            _ = alarm.problem(of: .store(error))
            throw .serviceUnavailable
        }
    }

    /// Creates a channel from the body of a request, and returns its identifier. Throws
    /// ``APNsReason/cannotCreateChannel`` beyond ``most`` or ``mostOfAll``, and the reasons of an invalid body. A
    /// channel that is created while access is open has no source, so every source may use it later.
    func create(for app: String, by source: SourceName, _ body: [UInt8]) async throws(APNsReason) -> String {
        let channel = BroadcastChannel(
            id: Self.newID(), app: app, storesLast: try Self.storesLast(body), source: senders.isOpen ? nil : source)
        let isCreated = try await asking { () throws(StoreError) in
            try await store.create(channel, upTo: Self.most, ofAll: Self.mostOfAll)
        }
        guard isCreated else { throw .cannotCreateChannel }
        return channel.id
    }

    /// A known channel of the app, which the source may use. Throws ``APNsReason/channelNotRegistered`` for any other.
    func channel(_ id: String, of app: String, for source: SourceName) async throws(APNsReason) -> BroadcastChannel {
        let channel = try await asking { () throws(StoreError) in try await store.channel(id, of: app) }
        // Another source's channel and an unknown one look alike.
        guard let channel, senders.shares(channel, with: source) else { throw .channelNotRegistered }
        return channel
    }

    /// The identifiers of the app's channels that the source may use, in byte order.
    func list(of app: String, for source: SourceName) async throws(APNsReason) -> [String] {
        try await asking { () throws(StoreError) in try await store.channels(of: app) }
            .filter { senders.shares($0, with: source) }.map(\.id)
    }

    /// Removes a known channel of the app, which the source may use. Throws ``APNsReason/channelNotRegistered``
    /// otherwise, even if another request removed it meanwhile.
    func remove(_ id: String, of app: String, for source: SourceName) async throws(APNsReason) {
        let known = try await channel(id, of: app, for: source)
        let isRemoved = try await asking { () throws(StoreError) in try await store.removeChannel(known.id, of: app) }
        guard isRemoved else { throw .channelNotRegistered }
    }

    /// Reads `{"message-storage-policy": 0 or 1, "push-type": "LiveActivity"}`. Policy 1 keeps the last message for
    /// devices that connect later, 0 keeps none. Throws ``APNsReason/missingPushType`` or
    /// ``APNsReason/invalidPushType``, and ``APNsReason/badRequestPayload`` for a body that is not such an object. The
    /// case of the type does not matter.
    private static func storesLast(_ body: [UInt8]) throws(APNsReason) -> Bool {
        var limits = JSONParser.Limits()
        limits.depth = 8
        let channel = JSONParser.read(body, limits: limits) { root in
            root.isObject ? (type: root["push-type"]?.string, policy: root["message-storage-policy"]?.integer) : nil
        }
        guard let channel else { throw .badRequestPayload }
        guard let type = channel.type else { throw .missingPushType }
        guard type.lowercased() == "liveactivity" else { throw .invalidPushType }
        switch channel.policy {
        case 0: return false
        case 1: return true
        default: throw .badRequestPayload
        }
    }

    /// 16 random bytes in base64, without the characters that a path would have to escape. With the padding, 24
    /// characters.
    private static func newID() -> String {
        Data(randomBytes(16)).base64EncodedString().replacing("+", with: "A").replacing("/", with: "B")
    }
}
