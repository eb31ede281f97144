import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// The active config as operators see it. Times are RFC 3339 in UTC.
extension ActiveConfigStatus {
    /// Writes the object `config` of `GET /v1/routes`. Omits `refused` unless the newest file was rejected. Problems
    /// name positions and never quote secrets.
    func write(into json: inout JSONWriter) {
        json.object { json in
            json.member("digest", digest)
            json.member("since", since)
            guard let rejection else { return }
            json.object("refused") { json in
                json.member("at", rejection.at)
                json.member("problems", rejection.problems)
            }
        }
    }
}
