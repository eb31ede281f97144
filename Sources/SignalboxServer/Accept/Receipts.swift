import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// The wording of accepted payloads, for the router, direct requests and stored answers alike.
extension Intake.Report {
    /// For one payload 202 with its receipt. For a batch 202 when all payloads were accepted, otherwise 207, with one
    /// item per payload in their order. The response to a single rejected payload is its problem.
    var answer: StoredAnswer {
        if !isBatch, case .success(let event)? = items.first {
            return StoredAnswer(status: 202, body: .json { $0.receipt(event, duplicate: duplicates[0]) })
        }
        return .batch(items) { json, position, event in
            json.receipt(event, duplicate: duplicates[position])
        } failure: { rejection in
            (Problem(rejection), rejection.place)
        }
    }
}

/// Answers that repeated requests receive byte for byte.
extension StoredAnswer {
    /// The response to a batch: 202 when all items were accepted, otherwise 207. Items are in the order of the
    /// request. `failure`: the error of an item and its position in the body.
    static func batch<Receipt, Failure: Error>(
        _ items: [Result<Receipt, Failure>], receipt: (inout JSONWriter, Int, Receipt) -> Void,
        failure: (Failure) -> (Problem, PayloadPosition)
    ) -> StoredAnswer {
        let rejected = items.count { if case .failure = $0 { true } else { false } }
        let body = [UInt8].jsonObject(capacity: 256 * items.count) { json in
            json.member("accepted", items.count - rejected)
            json.member("rejected", rejected)
            json.array("items", of: items.indices) { json, position in
                switch items[position] {
                case .success(let accepted): receipt(&json, position, accepted)
                case .failure(let reason):
                    let (problem, place) = failure(reason)
                    json.object { json in
                        json.member("line", place.line)
                        json.member("offset", place.offset)
                        json.key("error")
                        problem.write(into: &json)
                    }
                }
            }
        }
        return StoredAnswer(status: rejected == 0 ? 202 : 207, body: body)
    }
}

/// The receipt of one payload. Clients rely on its members; docs/reference/http.md lists them.
extension JSONWriter {
    /// `duplicate`: the id of the earlier event that this one repeats. Writes the whole object. Warnings are omitted
    /// when there are none; routes and destinations never are. `warnings` are the stable codes; their positions are
    /// in the event. `destinations` names each destination once, in the order of the deliveries.
    fileprivate mutating func receipt(_ routed: RoutedEvent, duplicate: String?) {
        beginObject()
        key("id")
        if let duplicate {
            string(duplicate)
            member("duplicate", true)
        } else {
            id(routed.event.id)
        }
        member("vendor", routed.event.vendor.name)
        member("kind", routed.event.kind.rawValue)
        member("routes", routed.routes)
        array("destinations", of: routed.deliveries) { $0.string($1.destination.name) }
        if !routed.event.warnings.isEmpty { member("warnings", routed.event.warnings) }
        endObject()
    }
}
