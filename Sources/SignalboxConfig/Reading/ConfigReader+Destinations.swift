import Foundation
import SignalboxJSON
import SignalboxNotification

extension ConfigReader {
    /// `gateway`: whose destinations they are.
    mutating func destinations(_ lists: [JSONValue], of gateway: GatewayConfig.Gateway) -> [Destination] {
        namedObjects(lists, upTo: ConfigBounds.destinations, "destinations").compactMap { name, value in
            destination(DestinationName(name), value, of: gateway)
        }
    }

    private mutating func destination(
        _ name: DestinationName, _ value: JSONValue, of gateway: GatewayConfig.Gateway
    ) -> Destination? {
        let builtin = value["builtin"]
        let keys =
            builtin == nil
            ? [
                "url", "secret", "timeout", "concurrency", "rate", "retry", "breaker", "ordering", "allow", "handshake",
            ] + Self.formatKeys + Self.accessKeys : ["builtin"]
        guard isObject(value, keys: keys) else { return nil }
        if let builtin {
            if !builtin.equals("inbox") { note(builtin, "there is only one built-in destination; write \"inbox\"") }
            return Destination(name: name, endpoint: .inbox)
        }
        // Everything is read, so that every mistake is found; what is missing then keeps the config from being used.
        var destination = Destination(name: name, endpoint: .inbox)
        let webhook = webhook(value, of: name)
        if let concurrency = value["concurrency"] {
            destination.concurrency = whole(concurrency, in: 1...1024) ?? destination.concurrency
        }
        if let retry = value["retry"] { destination.retry = self.retry(retry) }
        destination.perSecond = value["rate"].flatMap { rate($0) }
        if let breaker = value["breaker"] { destination.breaker = self.breaker(breaker) }
        destination.ordering = value["ordering"].flatMap { ordering($0) }
        destination.allow = value["allow"].map { ranges($0) } ?? []
        let perSecond = destination.perSecond
        let handshake = value["handshake"].flatMap { self.handshake($0, of: gateway, perSecond: perSecond) }
        guard var webhook else { return nil }
        webhook.handshake = handshake
        destination.endpoint = .webhook(webhook)
        return destination
    }

    private mutating func webhook(_ value: JSONValue, of name: DestinationName) -> Destination.Webhook? {
        let file = roots.firstIndex { $0.contains(value) } ?? 0
        let location = ConfigLocation(file: file, pointer: "/destinations").appending(name.name)
        let format = format(value, at: location)
        let compression = value["compression"].flatMap { self.compression($0) }
        let url = value["url"].flatMap { webAddress($0) }
        let secrets = value["secret"].map { self.secrets($0) } ?? []
        if value["url"] == nil { note(value, "a destination needs a \"url\", or \"builtin\": \"inbox\"") }
        if value["secret"] == nil {
            note(value, "a destination needs a \"secret\" to sign with, such as \"env:CRM_SECRET\"")
        }
        var timeout: Duration?
        if let value = value["timeout"] {
            timeout = duration(value, in: .milliseconds(10)...(.seconds(300)), example: "15s")
        }
        var webhook = Destination.Webhook(url: url ?? "", secrets: secrets, timeout: timeout ?? .seconds(15))
        webhook.format = format
        webhook.compression = compression
        access(value, of: &webhook)
        return url == nil || secrets.isEmpty ? nil : webhook
    }

    /// `200/s`, `60/m` or `1000/h`.
    mutating func rate(_ value: JSONValue) -> Double? {
        guard let text = text(value) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let units: [Substring: Double] = ["s": 1, "m": 60, "h": 3600]
        guard parts.count == 2, let unit = units[parts[1]], let count = Int(parts[0]), (1...1_000_000).contains(count)
        else {
            note(
                value,
                "\"\(text)\" is no rate; write a whole number and a unit, such as \"200/s\", \"60/m\" or \"1000/h\"")
            return nil
        }
        return Double(count) / unit
    }

    private mutating func breaker(_ value: JSONValue) -> Destination.Breaker {
        var breaker = Destination.Breaker()
        guard isObject(value, keys: ["failures", "probe"]) else { return breaker }
        if let failures = value["failures"] {
            breaker.failures = whole(failures, in: 1...1_000_000) ?? breaker.failures
        }
        if let probe = value["probe"] {
            breaker.probe = duration(probe, in: .milliseconds(1)...(.seconds(86_400)), example: "30s") ?? breaker.probe
        }
        return breaker
    }

    /// `"fifo"`, or an object with a key of its own.
    private mutating func ordering(_ value: JSONValue) -> Destination.Ordering? {
        if value.equals("fifo") { return Destination.Ordering() }
        guard value.isObject else {
            note(
                value,
                "write \"fifo\", {\"fifo\": \"/data/campaign/id\"} for a key of your own, or leave it out for no order")
            return nil
        }
        guard isObject(value, keys: ["fifo"]), let key = value["fifo"].flatMap({ pointer($0) }) else { return nil }
        return Destination.Ordering(key: key)
    }

    /// `usual`: for what is left out.
    mutating func retry(
        _ value: JSONValue, default usual: Destination.Retry = Destination.Retry()
    ) -> Destination.Retry {
        var retry = usual
        guard isObject(value, keys: ["attempts", "base", "max"]) else { return retry }
        if let attempts = value["attempts"] { retry.attempts = whole(attempts, in: 1...100) ?? retry.attempts }
        if let base = value["base"] {
            retry.base = duration(base, in: .milliseconds(1)...(.seconds(86_400)), example: "5s") ?? retry.base
        }
        if let max = value["max"] {
            retry.max = duration(max, in: .milliseconds(1)...(.seconds(7 * 86_400)), example: "6h") ?? retry.max
        }
        if retry.max < retry.base {
            note(value, "\"max\", \(retry.max.text), is shorter than \"base\", \(retry.base.text); make it longer")
        }
        return retry
    }

    /// Bytes of a URL: the minimum that RFC 9110, 4.1 recommends supporting.
    private static let longestAddress = 8_000

    static func isWebAddress(_ text: String) -> Bool {
        // Foundation would escape what does not belong in a URL; the text is used as it stands.
        guard text.utf8.count <= longestAddress,
            text.unicodeScalars.allSatisfy({ $0.value > 0x20 && !isControl($0) && $0 != "\\" }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased()
        else { return false }
        return (1...65_535).contains(parts.port ?? 80) && (scheme == "http" || scheme == "https")
            && !(parts.host ?? "").isEmpty && parts.user == nil
            && parts.password == nil && parts.fragment == nil
    }
}
