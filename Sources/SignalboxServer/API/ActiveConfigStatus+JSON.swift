import SignalboxGateway
import SignalboxJSON

extension ActiveConfigStatus {
    /// Writes the object `config` of `GET /v1/routes`.
    func write(into json: inout JSONWriter) {
        json.object { json in
            json.member("digest", digest)
            json.member("since", since)
            guard let rejection else { return }
            json.key("refused")
            json.object { json in
                json.member("at", rejection.at)
                json.member("problems", rejection.problems)
            }
        }
    }
}
