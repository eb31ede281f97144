package import SignalboxConfig
package import SignalboxJSON
import SignalboxNotification

extension RouteMedia {
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
