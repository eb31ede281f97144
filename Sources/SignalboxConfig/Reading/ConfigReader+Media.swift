import SignalboxJSON
import SignalboxNotification

// `media`: what is downloaded and how, how long it is kept, and who may have it.

extension ConfigReader {
    mutating func media(_ value: JSONValue) -> GatewayConfig.Media {
        var media = GatewayConfig.Media()
        let keys = [
            "maxBytes", "timeout", "types", "allowHttp", "allow", "tls", "proxy", "concurrency", "perHost", "retry",
            "retention", "signedUrls",
        ]
        guard isObject(value, keys: keys) else { return media }
        if let maxBytes = value["maxBytes"] { media.maxBytes = self.maxBytes(maxBytes) }
        if let timeout = value["timeout"] {
            let range: ClosedRange<Duration> = .milliseconds(10)...(.seconds(3600))
            media.timeout = duration(timeout, in: range, example: "20s") ?? media.timeout
        }
        if let types = value["types"] { media.types = self.types(types) }
        if let allowHttp = value["allowHttp"] { media.allowHttp = flag(allowHttp) }
        media.allow = value["allow"].map { ranges($0) } ?? []
        if let tls = value["tls"] { media.transport.tls = self.tls(tls) }
        if let proxy = value["proxy"] { media.transport.proxy = self.proxy(proxy) }
        places(value, of: &media)
        if let retry = value["retry"] { media.retry = self.retry(retry, default: media.retry) }
        if let retention = value["retention"] { media.retention = mediaRetention(retention) }
        media.signedUrls = value["signedUrls"].flatMap { signedUrls($0) }
        return media
    }

    private mutating func maxBytes(_ value: JSONValue) -> MediaLimits {
        var maxBytes = MediaLimits()
        guard isObject(value, keys: MediaKind.Family.allCases.map(\.rawValue)) else { return maxBytes }
        let range = 1...(1 << 30)
        if let image = value["image"] { maxBytes.image = size(image, in: range, example: "10MB") ?? maxBytes.image }
        if let audio = value["audio"] { maxBytes.audio = size(audio, in: range, example: "5MB") ?? maxBytes.audio }
        if let video = value["video"] { maxBytes.video = size(video, in: range, example: "50MB") ?? maxBytes.video }
        return maxBytes
    }

    /// A number of bytes, or a text with a unit.
    private mutating func size(_ value: JSONValue, in range: ClosedRange<Int>, example: String) -> Int? {
        let count = value.integer.flatMap { Int(exactly: $0) } ?? value.string.flatMap { ByteCount.read($0) }
        guard let count, range.contains(count) else {
            note(
                value,
                "this must be a number of bytes, or a size such as \"\(example)\", with B, KB, MB, GB, KiB, MiB or GiB, "
                    + "from \(ByteCount.text(range.lowerBound)) to \(ByteCount.text(range.upperBound))")
            return nil
        }
        return count
    }

    private mutating func types(_ value: JSONValue) -> [String] {
        let entries = list(value)
        if value.isArray, entries.isEmpty {
            note(value, "without a type nothing would be kept; name some, or leave \"types\" out for the usual ones")
        }
        var types: [String] = []
        for entry in entries {
            guard let name = text(entry)?.lowercased() else { continue }
            guard let type = MediaKind(mediaType: name)?.contentType else {
                let known = MediaKind.allCases.filter { $0.family != nil }.map(\.contentType)
                note(
                    entry,
                    "\"\(name)\" is no type of a picture, sound or film that is recognised"
                        + Self.suggestion(for: name, among: known))
                continue
            }
            if types.contains(type) {
                note(entry, "\"\(type)\" stands here twice, by this name or another; remove one")
            }
            types.append(type)
        }
        return types
    }

    private mutating func places(_ value: JSONValue, of media: inout GatewayConfig.Media) {
        if let concurrency = value["concurrency"] {
            media.concurrency = whole(concurrency, in: 1...1024) ?? media.concurrency
        }
        media.perHost = min(media.perHost, media.concurrency)
        guard let perHost = value["perHost"], let count = whole(perHost, in: 1...1024) else { return }
        if count > media.concurrency {
            note(
                perHost, "this is more than \"concurrency\", \(media.concurrency), which counts for all hosts together")
        }
        media.perHost = count
    }

    private mutating func mediaRetention(_ value: JSONValue) -> GatewayConfig.Media.Retention {
        var retention = GatewayConfig.Media.Retention()
        guard isObject(value, keys: ["age", "bytes"]) else { return retention }
        if let age = value["age"] {
            let range: ClosedRange<Duration> = .seconds(3600)...(.seconds(3660 * 86_400))
            retention.age = duration(age, in: range, example: "30d") ?? retention.age
        }
        if let bytes = value["bytes"] {
            retention.bytes =
                size(bytes, in: 1_000_000...1_000_000_000_000_000, example: "10GB").map { Int64($0) } ?? retention.bytes
        }
        return retention
    }

    private mutating func signedUrls(_ value: JSONValue) -> GatewayConfig.Media.SignedUrls? {
        guard isObject(value, keys: ["secret", "expiry"]) else { return nil }
        if value["secret"] == nil {
            note(value, "signed URLs need a \"secret\" to sign with, such as \"env:MEDIA_URL_SECRET\"")
        }
        var signed = GatewayConfig.Media.SignedUrls(secrets: value["secret"].map { secrets($0) } ?? [])
        if let expiry = value["expiry"] {
            // Links end with a whole hour, so a shorter time would be no time that anybody can count on.
            let range: ClosedRange<Duration> = .seconds(3600)...(.seconds(366 * 86_400))
            signed.expiry = duration(expiry, in: range, example: "7d") ?? signed.expiry
        }
        return signed
    }
}
