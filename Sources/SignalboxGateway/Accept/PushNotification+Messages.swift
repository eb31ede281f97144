import Foundation
import SignalboxEgress
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification

extension PushNotification {
    /// The registrations of the messages that the payload brings, in its order. Adds a warning for each message that
    /// exceeds a bound of ``MessageForm``, and leaves it out. Equal payloads make equal registrations.
    ///
    /// `time`: when the payload arrived. `types`: an action that they refuse is left out.
    mutating func registrations(arrivedAt time: Date, allowing types: ActionTypes) -> [InAppRegistration] {
        if messages.isEmpty { return [] }
        let arrival = Timestamp(time).milliseconds
        var registrations: [InAppRegistration] = []
        for position in messages.indices {
            do throws(FormFault) {
                let registration = try messages[position].registration(arrivedAt: arrival, allowing: types)
                if !registrations.contains(where: { $0.id == registration.id }) { registrations.append(registration) }
            } catch {
                warn(
                    vendor.name + ".message-not-registered", at: "", "\(error.pointer) of the message: \(error.detail)")
            }
        }
        return registrations
    }
}

extension PushedMessage {
    /// Bytes of the digest that names a message without an identifier of its own.
    private static let digest = 16

    /// Throws the first value that a message's form does not permit.
    fileprivate func registration(
        arrivedAt arrival: Instant, allowing types: ActionTypes
    ) throws(FormFault) -> InAppRegistration {
        var message = message
        message.registeredAt = arrival
        let (content, action) = (content?.bytes, actionForm(allowing: types))
        var body: [UInt8]?
        if message.id.isEmpty {
            // Before the end that depends on the arrival: equal payloads are one message.
            let bytes = MessageForm(message, content: content, action: action).write()
            message.id = message.vendor + ":" + hexadecimal(sha256(bytes).prefix(Self.digest))
            body = bytes
        }
        if let lifetime {
            // The end of a day, so that copies of a push for many devices change the message once a day at most.
            message.schedule.end = Self.endOfDay(arrival + lifetime)
            body = nil
        }
        let form = MessageForm(message, content: content, action: action)
        let bytes = body ?? form.write()
        try form.checkRegistration(as: bytes)
        return InAppRegistration(id: message.id, body: bytes, end: form.end)
    }

    /// Nil for an action that the config refuses.
    private func actionForm(allowing types: ActionTypes) -> [UInt8]? {
        guard let action, !types.problems(with: action, options: nil).contains(where: \.isRefusal) else { return nil }
        return action.json.bytes
    }

    /// The first midnight, UTC, that is not before the instant; the last instant of the calendar if that is earlier.
    private static func endOfDay(_ instant: Instant) -> Instant {
        let day: Instant = 86_400_000
        let rest = instant % day
        let end = rest > 0 ? instant - rest + day : instant - rest
        return Timestamp(Date(timeIntervalSince1970: Double(end) / 1000)).milliseconds
    }
}

extension Action {
    /// The action as events write it.
    fileprivate var json: JSONText { .object { $0.actionMembers(self) } }
}
