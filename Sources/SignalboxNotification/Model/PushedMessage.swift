import Foundation
package import SignalboxInApp
package import SignalboxJSON

/// An in-app message that a payload brings. The gateway names and registers it.
package struct PushedMessage: Sendable, Equatable {
    /// Within the bounds of the engine (``Definition``). The id is `vendor:` with the vendor's own identifier in
    /// Unicode normalization form C, or empty if the payload has none. Revision and time of registration are those of a
    /// new message.
    package var message: Message
    /// A JSON object for the app, in the vendor's own terms; nil for a control message.
    package var content: JSONText?
    /// The effect of a click on the message itself; nil without one.
    package var action: Action?
    /// For how long after its arrival a message that is shown at once may be shown; nil for a message with an end or
    /// with a trigger of its own.
    package var lifetime: Span?

    /// The longest time for which a push service keeps a message (firebase.google.com, "Set the lifespan of a
    /// message": four weeks). A message that is shown at once is not shown to devices that appear later.
    static let pushLifetime: Span = 28 * 86_400_000

    /// `id`: the vendor's own identifier; nil or empty if the payload has none.
    init(
        _ vendor: VendorID, id: String?, kind: Message.Kind, triggers: [MessageTrigger],
        reEligibility: Message.ReEligibility? = nil, content: JSONText?
    ) {
        let name = id.flatMap { $0.isEmpty ? nil : vendor.name + ":" + $0 }
        message = Message(
            id: name?.precomposedStringWithCanonicalMapping ?? "", vendor: vendor.name, kind: kind, triggers: triggers,
            reEligibility: reEligibility)
        self.content = content
    }

    /// The files that a client must have ready before the display. A file with a longer URL than the form of messages
    /// permits is left out: it does not hold the message up.
    static func assets(_ urls: some Sequence<String?>) -> Set<String> {
        Set(
            urls.compactMap(\.self).filter { (1...Bounds.textLength).contains($0.utf8.count) }.prefix(
                Bounds.listElements))
    }
}

extension PushNotification {
    /// The most messages that one payload brings. Braze permits 200 active campaigns with triggers in a workspace
    /// (braze-docs, "Create an in-app message").
    static let mostMessages = 200

    /// Adds a message, or a warning if the engine does not accept it. The first of two messages with one id counts.
    /// `value`: the part of the payload that the message was read from, for the warning.
    mutating func bring(_ pushed: PushedMessage, from value: JSONValue, in parser: JSONParser) {
        let id = pushed.message.id
        guard messages.count < Self.mostMessages else {
            return rejectMessage("The payload brings more than \(Self.mostMessages) messages.", at: value, in: parser)
        }
        guard !id.utf8.contains(where: { $0 < 0x20 }) else {
            return rejectMessage("The id of the message contains control characters.", at: value, in: parser)
        }
        guard id.isEmpty || !messages.contains(where: { $0.message.id == id }) else {
            return rejectMessage("An earlier message of the payload has the same id.", at: value, in: parser)
        }
        var named = pushed.message
        if id.isEmpty { named.id = named.vendor }
        do throws(InputFault) {
            _ = try Definition(named)
        } catch { return rejectMessage("\(error.pointer) of the message: \(error.detail).", at: value, in: parser) }
        messages.append(pushed)
    }

    /// Warns that the payload's message is not registered. `value`: the part that cannot be read.
    mutating func rejectMessage(_ reason: String, at value: JSONValue, in parser: JSONParser) {
        warn(vendor.name + ".message-not-registered", reason, at: value, in: parser)
    }
}
