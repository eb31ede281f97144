import Foundation
import SignalboxConfig
import SignalboxInApp
import SignalboxJSON

// A message's own limit in JSON: `{"count": 1, "per": "user", "window": "24h"}`.

/// Limits with an owner other than the message are part of the config and have no form here.
extension Limit {
    /// A limit of the message itself; `per` is `user` by default.
    /// `count` is from 1 to 1,000,000,000: a message that may never be shown is a mistake. Whether the window fits
    /// the policy's history is checked by ``Policy/validate(_:)-(Message)``.
    static func read(_ value: JSONValue, at pointer: String) throws(FormFault) -> Limit {
        let object = try FormObject(value, at: pointer, FormKeys.limit)
        let count = try object.required("count", object.integer("count", in: 1...1_000_000_000))
        let per = try object.choice("per", [Subject.user, .device, .everyone]) ?? .user
        return Limit(count, try Window.read(object), per: per)
    }
}

/// The time over which displays are counted.
extension Limit.Window {
    /// From the members `window` (a kind or a duration) and `zone` (of days and weeks only; the user's by default).
    /// Throws for a zone of any other window, which it could not change.
    fileprivate static func read(_ object: FormObject) throws(FormFault) -> Limit.Window {
        let word = try object.required("window", object.text("window", upTo: 16))
        let span = Duration(text: word)?.milliseconds
        let zone = try readZone(object)
        let window: Limit.Window
        do throws(InputFault) {
            window = try Limit.Window(kind: span == nil ? word : nil, span: span, zone: zone ?? .user, at: "")
        } catch {
            throw FormFault(
                error.code, object.pointer("window"),
                "Unknown window \"\(word)\": expected session, day, week, lifetime or a duration such as \"24h\".")
        }
        switch window {
        case .day, .week: break
        case .session, .rolling, .lifetime:
            guard zone == nil else {
                throw FormFault(.contradictory, object.pointer("zone"), "Only the windows day and week have a zone.")
            }
        }
        return window
    }

    /// Nil for an absent member. `user` is the zone that the device reported.
    private static func readZone(_ object: FormObject) throws(FormFault) -> Limit.Zone? {
        guard let value = object["zone"] else { return nil }
        if value.equals("user") { return .user }
        return try object.zone("zone").map { .fixed($0) }
    }
}

// MARK: Writing

extension JSONWriter {
    /// The owner is not written: a message's form has limits of the message only.
    /// Text that ``Limit/read(_:at:)`` reads as an equal limit.
    mutating func limit(_ limit: Limit) {
        beginObject()
        member("count", limit.count)
        member("per", limit.per.rawValue)
        key("window")
        switch limit.window {
        case .session: string("session" as StaticString)
        case .lifetime: string("lifetime" as StaticString)
        case .rolling(let span): self.span(span)
        case .day(let zone):
            string("day" as StaticString)
            member(zone: zone)
        case .week(let zone):
            string("week" as StaticString)
            member(zone: zone)
        }
        endObject()
    }

    /// No member for the user's zone, which is the default.
    private mutating func member(zone: Limit.Zone) {
        guard case .fixed(let zone) = zone else { return }
        member("zone", zone.identifier)
    }
}
