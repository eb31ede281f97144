package import SignalboxJSON
import SignalboxNotification

/// How the destinations of a route have the files that an event points to.
package enum RouteMedia: Sendable, Equatable {
    /// Not at all: the event comes without them.
    case none
    /// As the vendor's links; nothing is downloaded for them.
    case link
    /// Downloaded, with links to the gateway's copies. Deliveries wait for so long; what is not there then is left out.
    case stored(wait: Duration)

    /// How long deliveries wait where the route does not say.
    static let defaultWait: Duration = .seconds(30)

    /// The most files of one event that are downloaded.
    package static let limit = 100

    /// Where an event's files are, each once, in its order.
    package static func urls(in event: JSONValue) -> [String] {
        guard let media = event["data"]?["media"], media.isArray else { return [] }
        var urls: [String] = []
        for entry in media.elements {
            guard let bytes = entry["url"]?.utf8, bytes.count <= MediaLimits.longestURL,
                let url = entry["url"]?.string, !urls.contains(url)
            else { continue }
            urls.append(url)
            if urls.count == limit { break }
        }
        return urls
    }
}
