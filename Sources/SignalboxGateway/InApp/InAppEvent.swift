package import Foundation
package import SignalboxInApp
import SignalboxJSON
package import SignalboxNotification

/// Events about the transitions of in-app offers: `io.signalbox.inapp.offered`, `.impression`, `.clicked`,
/// `.dismissed`, `.discarded`, `.expired`, `.held` and `.no-match`, as the schema `urn:signalbox:schema:inapp:1`
/// defines them. They name the device and the user, as the app sent them; they never have push tokens.
/// Their bodies are deterministic, so a decision that runs again after a failed commit writes the same events.
package enum InAppEvent {
    /// The request that caused a decision.
    /// Equal for all events of one decision.
    package struct Origin: Sendable, Hashable {
        /// The name of the gateway.
        package let gateway: String
        /// The source of the request; for time's own transitions, the source of the config's choice.
        package let source: SourceName
        package let device: DeviceID
        /// Nil for an anonymous user.
        package let user: UserID?

        package init(gateway: String, source: SourceName, device: DeviceID, user: UserID?) {
            (self.gateway, self.source, self.device, self.user) = (gateway, source, device, user)
        }
    }

    /// The type of a record's event.
    /// Types are part of the API: routes match them.
    package static func type(of record: Record) -> String { "io.signalbox.inapp.\(record.kind.rawValue)" }

    /// The `index`th id of one decision. A decision that runs again with the same time and random numbers gets the
    /// same ids; ids of one decision sort by their index.
    package static func id(_ index: Int, at time: Date, random: (UInt64, UInt64)) -> EventID {
        // The upper bits are those of the decision, so ids of different decisions do not meet.
        EventID(at: time, random: (random.0, random.1 & ~0xFFFF | UInt64(truncatingIfNeeded: index) & 0xFFFF))
    }

    /// The event of a record. Equal arguments give equal bytes. `id` and `acceptedAt` are the event's identity and
    /// `time`; the record's own time is `data.at`.
    package static func event(_ record: Record, from origin: Origin, id: EventID, acceptedAt: Date) -> Event {
        let vendor = record.offer?.vendor ?? VendorID.unknown.name
        let subject = "\(vendor)/\(record.offer?.kind.rawValue ?? record.kind.rawValue)"
        var json = JSONWriter(reservingCapacity: 1000)
        json.cloudEvent(
            type(of: record), id: id, source: "/signalbox/\(origin.gateway)/\(origin.source)", subject: subject,
            at: acceptedAt, schema: "inapp:1"
        ) { json in
            json.message(of: record)
            json.offer(of: record, origin)
            json.outcome(of: record)
        }
        return Event(
            id: id, source: origin.source, acceptedAt: acceptedAt, vendor: VendorID(vendor), kind: .alert,
            warnings: [], subject: subject, body: json.bytes)
    }
}

// MARK: Data

// The order of the members is part of the event's bytes and does not change.
/// Members of `data`.
extension JSONWriter {
    /// The message of an offer, with the campaign of its vendor. A no-match has none.
    fileprivate mutating func message(of record: Record) {
        guard let offer = record.offer else { return }
        member("vendor", offer.vendor)
        member("kind", offer.kind.rawValue)
        member("message", offer.message)
        member("revision", offer.revision)
        member("campaign", offer.campaign)
    }

    /// Device and user of the offer, or of the request. An anonymous user is left out, because its name is the
    /// device's.
    fileprivate mutating func offer(of record: Record, _ origin: InAppEvent.Origin) {
        member("offer", record.offer?.id)
        member("device", record.offer?.device ?? origin.device)
        let user = record.offer?.user ?? origin.user
        member("user", user.flatMap { AnonymousUser.contains($0) ? nil : $0 })
        member("at", at: record.at)
    }

    /// The reason of the transition, under the name that fits its kind, then flags, times and, for a no-match, kind
    /// and name of the trigger. Properties of triggers are never part of an event.
    fileprivate mutating func outcome(of record: Record) {
        switch record.kind {
        case .offered: member("moment", record.detail)
        case .clicked: member("button", record.detail)
        case .dismissed: member("how", record.detail)
        case .discarded, .expired: member("reason", record.detail)
        case .held: member("group", record.detail)
        case .impression, .noMatch: member("reason", record.detail)
        }
        member("flags", list: record.flags)
        if let offer = record.offer { times(of: offer) }
        guard let trigger = record.trigger else { return }
        key("trigger")
        event(trigger, isBrief: true)
    }

    /// RFC 3339 with milliseconds, in UTC.
    private mutating func times(of offer: Offer) {
        member("triggeredAt", at: offer.triggeredAt)
        member("leaseUntil", at: offer.state == .offered ? offer.leaseUntil : nil)
        member("shownAt", at: offer.shownAt)
        member("endedAt", at: offer.endedAt)
        guard let slot = offer.slot else { return }
        object("slot") { json in
            json.member("page", offer.page)
            json.members(of: slot)
        }
    }
}
