import SignalboxEgress
import SignalboxJSON
import SignalboxStore

extension PushVerdict {
    /// The record that gives repeats the same answer; nil for an answer that is not final or not text.
    var stored: StoredAnswer? {
        guard isFinal, let status, let text = String(validating: body, as: UTF8.self) else { return nil }
        let record = [UInt8].jsonObject { json in
            json.member("host", host)
            json.object("headers") { json in
                for header in headers {
                    json.key(header.name)
                    json.string(header.value)
                }
            }
            json.member("body", text)
        }
        return StoredAnswer(status: status, body: record)
    }

    /// The verdict of a record; nil for one that is damaged. It has the parts that the sender receives.
    init?(_ stored: StoredAnswer) {
        let read = JSONParser.read(stored.body) { root -> PushVerdict? in
            guard let host = root["host"]?.string, let body = root["body"]?.string, let fields = root["headers"] else {
                return nil
            }
            let isAccepted = (200..<300).contains(stored.status)
            var verdict = PushVerdict(host: host, outcome: isAccepted ? .accepted : .rejected, status: stored.status)
            verdict.headers = fields.members.compactMap { name, value in
                value.string.map { Header(name: String(decoding: name, as: UTF8.self), value: $0) }
            }
            verdict.body = Array(body.utf8)
            return verdict
        }
        guard let read else { return nil }
        self = read
    }
}

extension ForwardedPush {
    /// The key of the verdict's record; nil for a push that is always new. It covers everything that the verdict may
    /// depend on, except the credential.
    func verdictKey(at origin: String) -> String? {
        guard let repeatKey else { return nil }
        var bytes = Array("\(origin)\0\(path)\0".utf8)
        for (name, value) in headers where name.hasPrefix("apns-") { bytes += Array("\(name)\0\(value)\0".utf8) }
        // A space, which no `Idempotency-Key` contains, separates these keys from those of the gateway's own API.
        return "verdict \(provider.rawValue) \(repeatKey) \(hexadecimal(sha256(bytes + body)))"
    }
}
