package import SignalboxModel

/// One link of the chain: recognises the payloads of one vendor and reads them.
package protocol VendorDetector: Sendable {
    var vendor: VendorID { get }

    /// What it looks for, in words, for `signalbox vendors` and `signalbox explain`.
    var looksFor: String { get }

    /// Says whether this vendor produced the payload, with the evidence; nil when nothing speaks for it.
    func detect(_ payload: borrowing PlatformPayload) -> Detection?

    /// Reads a payload that this detector has claimed. The notification comes in with what the platform's own keys say,
    /// which the vendor's keys override; what is wrong becomes a warning, never a failure.
    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification)
}
