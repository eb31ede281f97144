package import SignalboxGateway
package import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
package import SignalboxStore

/// Events as the API and the command line list them.
extension JSONWriter {
    /// Writes one event of a list as an object. Absent values have no member; `deliveries` has the states that occur.
    /// `routes`: names of the routes that match; nil if they are not known. `hidesContent`: without the title.
    package mutating func event(_ record: EventRecord, routes: [String]? = nil, hidesContent: Bool = false) {
        let summary = EventSummary(record)
        object { json in
            json.member("id", record.id)
            json.member("time", record.acceptedAt)
            json.member("source", record.source.name)
            json.member("type", summary.type)
            json.member("subject", record.subject)
            json.member("vendor", summary.vendor)
            json.member("kind", summary.kind)
            json.member("title", summary.title.map { hidesContent ? ContentMask.hidden : $0 })
            json.member("warnings", summary.warnings)
            if let routes { json.member("routes", routes) }
            json.object("deliveries") { json in
                for state in DeliveryRecord.State.allCases {
                    guard let count = record.deliveries[state] else { continue }
                    json.key(state.rawValue)
                    json.integer(count)
                }
            }
            json.member("bytes", record.body.count)
        }
    }

    /// Writes one event with all that is known about it, as an object. `href`: a link to a stored file, by its digest.
    /// `wait`: why a delivery has not been sent. `payload` is `kept` or `gone`. `routes` is absent if evaluating the
    /// routes takes too much work.
    package mutating func event(
        _ detail: EventDetail, hidesContent: Bool = false, href: (String) -> String? = { _ in nil },
        wait: (DeliveryRecord) -> DeliveryWait?
    ) {
        object { json in
            let body = hidesContent ? ContentMask.event(detail.record.body) : detail.record.body
            if let body { json.member("event", raw: body) }
            json.member("payload", detail.record.hasPayload ? "kept" : "gone")
            json.array("deliveries", of: detail.deliveries) {
                $0.delivery($1, wait: wait($1), hidesReply: hidesContent)
            }
            if let routes = detail.routes { json.verdicts(of: routes, hidesContent: hidesContent) }
            json.objects("interactions", of: detail.interactions) { json, interaction in
                json.member("id", interaction.id)
                json.member("time", interaction.time)
                let action = interaction.action
                json.member("action", hidesContent ? action.map { ContentMask.identifier($0) } : action)
                json.member("outcome", interaction.outcome)
            }
            json.objects("media", of: detail.media) { json, file in
                json.member("url", hidesContent ? ContentMask.hide(file.url) : file.url)
                json.member("state", file.state)
                // The digest is enough to fetch the file, unless links are signed.
                json.member("sha256", hidesContent ? nil : file.sha256)
                json.member("reason", file.reason)
                json.member("href", hidesContent ? nil : file.sha256.flatMap(href))
            }
            json.member("trace", detail.trace)
        }
    }

    /// The member `routes`: one object for each route, in their order. Matched routes name their destinations, the
    /// others their reason. A mismatch names the pointer and the value that was found there. `by` names the route
    /// whose `stop` ended the list.
    mutating func verdicts(of trial: RouteTrial, hidesContent: Bool = false) {
        objects("routes", of: trial.routes) { json, entry in
            json.member("name", entry.name)
            json.member("matched", entry.verdict == .taken)
            if entry.verdict == .taken {
                json.member("to", entry.destinations.map(\.name))
            } else {
                json.member("reason", entry.verdict.code)
            }
            if case .mismatch(let pointer, let found) = entry.verdict {
                json.member("pointer", pointer)
                if !hidesContent { json.member("found", found) }
            }
            if case .stopped(let route) = entry.verdict { json.member("by", route) }
        }
    }
}
