import Foundation
import SignalboxJSON
import SignalboxModel

extension ConfigReader {
    mutating func destinations(_ value: JSONValue) -> [Destination] {
        namedObjects(value).compactMap { name, value in destination(DestinationName(name), value) }
    }

    private mutating func destination(_ name: DestinationName, _ value: JSONValue) -> Destination? {
        let builtin = value["builtin"]
        let keys =
            builtin == nil
            ? ["url", "secret", "format", "timeout", "concurrency", "retry", "builtin"] + Self.accessKeys : ["builtin"]
        guard isObject(value, keys: keys) else { return nil }
        if let builtin {
            if !builtin.equals("inbox") { note(builtin, "there is only one built-in destination; write \"inbox\"") }
            return Destination(name: name, endpoint: .inbox)
        }
        // Everything is read, so that every mistake is found; what is missing then keeps the config from being used.
        var destination = Destination(name: name, endpoint: .inbox)
        let webhook = webhook(value)
        if let concurrency = value["concurrency"] {
            destination.concurrency = whole(concurrency, in: 1...1024) ?? destination.concurrency
        }
        if let retry = value["retry"] { destination.retry = self.retry(retry) }
        guard let webhook else { return nil }
        destination.endpoint = .webhook(webhook)
        return destination
    }

    private mutating func webhook(_ value: JSONValue) -> Destination.Webhook? {
        if let format = value["format"], !format.equals("cloudevents") {
            note(format, "there is only one format so far; write \"cloudevents\", or leave it out")
        }
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
        access(value, of: &webhook)
        return url == nil || secrets.isEmpty ? nil : webhook
    }

    private mutating func retry(_ value: JSONValue) -> Destination.Retry {
        var retry = Destination.Retry()
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

    static func isWebAddress(_ text: String) -> Bool {
        // Foundation would escape what does not belong in a URL; the text is used as it stands.
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F && $0 != "\\" }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased()
        else { return false }
        return (1...65_535).contains(parts.port ?? 80) && (scheme == "http" || scheme == "https")
            && !(parts.host ?? "").isEmpty && parts.user == nil
            && parts.password == nil && parts.fragment == nil
    }
}
