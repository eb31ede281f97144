import Foundation
import Hummingbird
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Observations of the gateway since it started: refusals, counts, vendors. All of them are in memory.
struct ObservationAPI: Sendable {
    let observation: Observation

    /// The longest window of counts, and its default.
    static let window = Duration.seconds(15 * 60)

    /// The parameters of `GET /v1/stats`. Their texts are part of docs/reference/http.md.
    static let statsParameters: [QueryParameter] = [
        QueryParameter("window", .duration, "The time to look back; default 15m, which is the longest"),
        QueryParameter("step", .duration, "The time that one number counts; whole seconds, default 10s"),
    ]

    /// The newest first, without any part of their bodies. Throws 400 for an invalid time. `since` is included, `until`
    /// is not. The log keeps the last 200 refusals of this process.
    func rejections(_ call: Call) throws(Problem) -> Response {
        let (since, until) = (try call.time("since") ?? .distantPast, try call.time("until") ?? .distantFuture)
        return .json { json in
            let newest = observation.rejections.newest.filter { $0.at >= since && $0.at < until }
            json.objects("rejections", of: newest) { json, refusal in
                json.member("at", refusal.at)
                json.member("source", refusal.source?.name)
                json.member("code", refusal.code)
                if let bytes = refusal.bytes { json.member("bytes", bytes) }
                if let line = refusal.line { json.member("line", line) }
                json.member("door", refusal.door.rawValue)
            }
        }
    }

    /// Throws 400 for an invalid window or step. Each series has one sum for each step, the oldest first. Names without
    /// a count in the window have no series.
    func stats(_ call: Call) throws(Problem) -> Response {
        let window = try seconds("window", of: call, upTo: Self.window) ?? Int(Self.window / .seconds(1))
        let step = try seconds("step", of: call, upTo: Self.window) ?? min(10, window)
        guard step <= window else { throw .badQuery("step is longer than window: write a shorter step.") }
        let series = observation.activity.series(window: window, step: step)
        return .json { json in
            json.member("step", series.step)
            json.member("from", series.from)
            json.object("series") { json in
                for group in ActivityCounts.Group.allCases {
                    json.key(group.rawValue)
                    json.object(of: series.sums[group] ?? [:]) { json, sums in
                        json.array(of: sums) { $0.integer($1) }
                    }
                }
            }
        }
    }

    /// A parameter in whole seconds; nil when it is absent.
    private func seconds(_ name: String, of call: Call, upTo most: Duration) throws(Problem) -> Int? {
        guard let text = call.query(name) else { return nil }
        guard let time = Duration(text: text), time >= .seconds(1), time <= most, time.components.attoseconds == 0
        else { throw .badQuery("\(name) is \(text.prefix(100)): write whole seconds from 1s to \(most.text).") }
        return Int(time.components.seconds)
    }

    /// Vendors by their number of events, and the keys of their payloads that no detector reads. `known`: the vendors
    /// that an event can have. `share` is a part of 1, rounded to four decimal places; 0 before the first event.
    func vendors(known: [String]) -> Response {
        let totals = observation.activity.vendors
        let all = totals.values.reduce(0) { $0 + $1.events }
        let drift = observation.drift.snapshot
        let names = Set(totals.keys).union(drift.vendors.keys).sorted {
            let (left, right) = (totals[$0]?.events ?? 0, totals[$1]?.events ?? 0)
            return left == right ? $0 < $1 : left > right
        }
        return .json { json in
            json.member("since", drift.since)
            json.member("started", observation.started)
            json.member("known", known)
            json.objects("vendors", of: names) { json, name in
                json.member("name", name)
                let total = totals[name]
                json.member("events", total?.events ?? 0)
                json.key("share")
                json.double(all == 0 ? 0 : (Double(total?.events ?? 0) / Double(all) * 10_000).rounded() / 10_000)
                json.object("warnings", of: total?.warnings ?? [:]) { $0.integer($1) }
                Self.write(drift.vendors[name], into: &json)
            }
        }
    }

    /// The newest keys first. `folded` counts sightings of keys beyond the bound, which have no entry; absent for none.
    private static func write(_ keys: VendorKeys?, into json: inout JSONWriter) {
        let known = (keys?.known ?? [:]).sorted {
            $0.value.firstSeen == $1.value.firstSeen ? $0.key < $1.key : $0.value.firstSeen > $1.value.firstSeen
        }
        json.objects("newKeys", of: known) { json, key in
            json.member("pointer", key.key)
            json.member("firstSeen", Date(timeIntervalSince1970: Double(key.value.firstSeen) / 1000))
            json.member("count", key.value.count)
            json.member("type", key.value.type.rawValue)
        }
        if let folded = keys?.folded, folded > 0 { json.member("folded", folded) }
    }
}
