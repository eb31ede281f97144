/// A picture, sound or film that a payload points to.
package struct Media: Sendable, Equatable {
    package enum Role: String, Sendable, CaseIterable {
        /// Shown with the notification.
        case attachment
        /// One picture of a carousel.
        case carousel
        /// Behind or within an in-app page.
        case background
        /// A small picture beside the text.
        case icon
    }

    package enum Status: String, Sendable, CaseIterable {
        case pending, stored, skipped, failed
    }

    package var url: String
    package var role: Role
    package var status: Status = .pending
    /// MIME type, when the payload itself tells it.
    package var contentType: String?

    package init(url: String, role: Role, contentType: String? = nil) {
        self.url = url
        self.role = role
        self.contentType = contentType
    }
}
