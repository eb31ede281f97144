import Foundation
import SignalboxJSON

/// Whether a webhook is asked for permission before it is sent to.
extension ConfigReader {
    /// `true`, or an object that says how to ask. `gateway`: who asks unless it says otherwise. `perSecond`: the
    /// destination's own rate, which is then asked for.
    mutating func handshake(
        _ value: JSONValue, of gateway: GatewayConfig.Gateway, perSecond: Double?
    ) -> Destination.Handshake? {
        var handshake = Destination.Handshake(origin: gateway.origin, perMinute: perSecond.map(Self.perMinute))
        if let isWanted = value.bool { return isWanted ? handshake : nil }
        guard value.isObject else {
            note(value, "write true, or an object with an \"origin\", a \"rate\" or an \"age\", or leave it out")
            return nil
        }
        guard isObject(value, keys: ["origin", "rate", "age"]) else { return nil }
        if let member = value["origin"], let origin = text(member) {
            handshake.origin = origin
            if !Destination.Handshake.allows(origin: origin) {
                note(member, "an origin is 1 to 253 letters, digits, -, _ or ., such as \"gateway.example.com\"")
            }
        }
        if let rate = value["rate"].flatMap({ rate($0) }) { handshake.perMinute = Self.perMinute(rate) }
        if let age = value["age"] {
            handshake.age =
                duration(age, in: .seconds(1)...(.seconds(365 * 86_400)), example: "24h") ?? handshake.age
        }
        return handshake
    }

    /// Rounded up: less would not be enough.
    private static func perMinute(_ perSecond: Double) -> Int { Int((perSecond * 60).rounded(.up)) }
}

extension GatewayConfig.Gateway {
    /// By which webhooks know it: the host of its public URL, else its name.
    var origin: String {
        let host = publicUrl.flatMap { URLComponents(string: $0)?.host }
        return host.flatMap { Destination.Handshake.allows(origin: $0) ? $0 : nil } ?? name
    }
}
