import SignalboxJSON

/// Amazon Device Messaging: the request of a sender.
extension Arrival {
    /// A request to Amazon Device Messaging: `data` or `notification` with one of this service's own options
    /// (developer.amazon.com, "Send a message"). None of these options exists in FCM.
    var isADM: Bool {
        hasMessageBlock && (root["consolidationKey"] != nil || root["expiresAfter"] != nil || root["md5"] != nil)
    }

    /// Opens a request to ADM. The vendor's keys are in `data`, without keys of the platform among them. The platform
    /// is unknown in events, because events know only APNs and FCM as platforms.
    func adm() -> PlatformPayload {
        payload(
            .unknown, .adm, layers: .of(root["data"], .none), notifications: notification,
            warnings: WellFormedness(of: self).warnings)
    }
}
