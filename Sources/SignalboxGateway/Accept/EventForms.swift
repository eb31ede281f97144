import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// The event as its destinations get it, each form made once.
struct EventForms {
    private let event: Event
    private let body: JSONValue
    private let shaping: EventShaping
    private var known: [Form: Int?] = [:]
    private(set) var variants: [[UInt8]] = []

    private struct Form: Hashable {
        let hasPayload: Bool
        let hasMedia: Bool
        /// The route that shapes it.
        let route: String?
        let awaitsMedia: Bool
    }

    /// `body`: the event, read.
    init(_ event: Event, _ body: JSONValue, shaping: EventShaping) {
        self.event = event
        self.body = body
        self.shaping = shaping
    }

    /// Position of the variant that a target gets; nil for the event as it is stored. `awaitsMedia`: whether its delivery
    /// waits for the event's files, so that it is transformed only then.
    mutating func variant(for target: RouteTable.Target, awaitsMedia: Bool) -> Int? {
        let losesMedia = target.media == .none && body["data"]?["media"] != nil
        let shown = target.including.contains(.apns) ? event.shown : nil
        guard losesMedia || shown != nil || target.shape != nil else { return nil }
        let form = Form(
            hasPayload: shown != nil, hasMedia: !losesMedia, route: target.shape == nil ? nil : target.route,
            awaitsMedia: target.shape != nil && awaitsMedia)
        if let position = known[form] { return position }
        let position = make(form, for: target)
        known[form] = .some(position)
        return position
    }

    private mutating func make(_ form: Form, for target: RouteTable.Target) -> Int? {
        var bytes = event.body
        if !form.hasMedia { bytes = body.eventWithoutMedia }
        if form.hasPayload, let shown = event.shown { bytes = shown.asMember(ofEvent: bytes) }
        let shaped = shaping.shaped(bytes, for: target, awaitsMedia: form.awaitsMedia)
        guard form.hasPayload || !form.hasMedia || shaped != nil else { return nil }
        variants.append(shaped ?? bytes)
        return variants.count - 1
    }
}
