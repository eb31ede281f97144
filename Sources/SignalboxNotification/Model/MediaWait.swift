/// The files that deliveries of an event wait for.
package struct MediaWait: Sendable, Equatable {
    /// Each once, in the event's order.
    package var urls: [String]

    package init(urls: [String]) { self.urls = urls }
}

/// A delivery that waits for files, once they are there or its time is over.
package struct HeldDelivery: Sendable, Equatable {
    package let delivery: Int64
    /// The queue's number of the event.
    package let event: Int64
    package let destination: DestinationName
    /// The event as this destination gets it, but for its media.
    package let body: [UInt8]
    /// What is known of each URL that the event waits for.
    package let media: [String: MediaState]
    /// Name of the route that makes something else of the event once it has its media; nil where none does.
    package let shape: String?

    package init(
        delivery: Int64, event: Int64, destination: DestinationName, body: [UInt8], media: [String: MediaState],
        shape: String? = nil
    ) {
        self.delivery = delivery
        self.event = event
        self.destination = destination
        self.body = body
        self.media = media
        self.shape = shape
    }
}

/// How far a URL's download is.
package enum MediaState: Sendable, Equatable {
    /// Not there yet.
    case pending
    /// Kept; also while it is asked whether it has changed.
    case stored(MediaFile, remarks: [MediaRemark])
    case failed(MediaFailure)
}
