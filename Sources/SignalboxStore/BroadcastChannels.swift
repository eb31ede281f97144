package import SignalboxNotification

/// A channel for broadcasts to the devices that subscribe to it, as a sender created it.
package struct BroadcastChannel: Sendable, Equatable {
    /// Made by the gateway; unique in the app.
    package let id: String
    /// The bundle identifier of the app.
    package let app: String
    /// Whether the push service keeps the last broadcast for devices that are not connected.
    package let storesLast: Bool
    /// The source that created it; nil for one of a gateway without sources, or of an earlier version.
    package let source: SourceName?

    /// Takes the sender's choices and a new identifier.
    package init(id: String, app: String, storesLast: Bool, source: SourceName? = nil) {
        (self.id, self.app, self.storesLast, self.source) = (id, app, storesLast, source)
    }
}

/// Keeps the channels that senders created.
package protocol ChannelStore: StoreStatus {
    /// Creates a channel; false, without a write, if its app has `most` channels already, or all apps together have
    /// `total`.
    func create(_ channel: BroadcastChannel, upTo most: Int, ofAll total: Int) async throws(StoreError) -> Bool

    /// One channel; nil when the app has none with this identifier.
    func channel(_ id: String, of app: String) async throws(StoreError) -> BroadcastChannel?

    /// All channels of an app, by identifier in byte order.
    func channels(of app: String) async throws(StoreError) -> [BroadcastChannel]

    /// Removes a channel; false when there was none.
    func removeChannel(_ id: String, of app: String) async throws(StoreError) -> Bool
}
