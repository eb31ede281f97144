package import SignalboxConfig
package import SignalboxJSON
import SignalboxNotification

extension RouteMedia {
    /// The most files of one event that are downloaded.
    package static let limit = 100

    /// The URLs of an event's files, each once, in the event's order; at most ``limit``. Skips entries without a URL
    /// and URLs longer than ``MediaLimits/longestURL``. Empty for an event without media.
    package static func urls(in event: JSONValue) -> [String] {
        guard let media = event["data"]?["media"], media.isArray else { return [] }
        var (urls, known): ([String], ExactTextSet) = ([], [])
        for entry in media.elements {
            guard let bytes = entry["url"]?.utf8, bytes.count <= MediaLimits.longestURL,
                let url = entry["url"]?.string, known.insert(url)
            else { continue }
            urls.append(url)
            if urls.count == limit { break }
        }
        return urls
    }
}
