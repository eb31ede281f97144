/// How large a file that is downloaded may be, in bytes. What stands here counts where the config says nothing else, and is
/// what `UNNotificationAttachment` takes.
package struct MediaLimits: Sendable, Equatable {
    package var image = 10 << 20
    package var audio = 5 << 20
    package var video = 50 << 20

    /// The longest URL that is downloaded or followed, in bytes.
    package static let longestURL = 8 * 1024

    package init() {}

    package subscript(family: MediaKind.Family) -> Int {
        switch family {
        case .image: image
        case .audio: audio
        case .video: video
        }
    }
}
