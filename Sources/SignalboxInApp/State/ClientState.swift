package import Foundation

/// The client's state as it reports it with a trigger. The device's row keeps the last one for decisions between
/// requests.
package struct ClientState: Sendable, Hashable {
    /// The orientation of the screen.
    package enum Orientation: String, Sendable, Hashable { case portrait, landscape }
    /// The platform that the app runs on.
    package enum Platform: String, Sendable, Hashable { case ios, android, web, roku }
    /// State of an image or another file of a message.
    package enum Asset: String, Sendable, Hashable { case unknown, loading, ready, failed }

    /// Whether the app is in front. In the background nothing is shown.
    package var foreground: Bool
    /// The app's own name of its screen.
    package var screen: String?
    /// Nil if the client does not say; then every message fits.
    package var orientation: Orientation?
    /// Decides about timeouts that only one of a vendor's SDKs has.
    package var platform: Platform?
    /// Templates that the client can show; nil if it does not say.
    package var templates: Set<String>?
    /// Nil if the client does not load assets ahead; otherwise an asset that is not listed is unknown.
    package var assets: [String: Asset]?
    /// The keyboard, a splash screen or a dialog of the app is up.
    package var isBusy = false
    /// The screen forbids interruptions (Synerise, "blocking"): all of them, or those of some vendors.
    package var blocks = false
    /// Vendors whose messages the app does not show now.
    package var blockedVendors: Set<Vendor> = []
    /// Offers on the screen; nil if the client does not say. A shown offer that is not listed has ended.
    package var visible: Set<OfferID>?
    /// Topics that the device is subscribed to; nil if unknown.
    package var topics: Set<String>?
    /// Sourse's `isSmartNotificationDelayEnabled`.
    package var smartDelay = true
    /// For calendar limits with the user's zone and for the active hour.
    package var zone: TimeZone?

    /// A client that reports nothing else.
    package init(foreground: Bool = true, screen: String? = nil) {
        (self.foreground, self.screen) = (foreground, screen)
    }

    /// Whether the screen forbids messages of a vendor.
    func isBlocked(for vendor: Vendor) -> Bool { blocks || blockedVendors.contains(vendor) }

    /// Throws the first list or text that is beyond its bound.
    func validate() throws(InputFault) {
        if let screen { try InputFault.check(screen, at: "/state/screen") }
        try InputFault.check(count: templates?.count ?? 0, atMost: Bounds.listElements, at: "/state/templates")
        try InputFault.check(count: assets?.count ?? 0, atMost: Bounds.listElements * 10, at: "/state/assets")
        try InputFault.check(count: blockedVendors.count, atMost: Bounds.listElements, at: "/state/blockedVendors")
        try InputFault.check(count: visible?.count ?? 0, atMost: Bounds.listElements, at: "/state/visible")
        try InputFault.check(count: topics?.count ?? 0, atMost: Bounds.listElements * 10, at: "/state/topics")
    }
}
