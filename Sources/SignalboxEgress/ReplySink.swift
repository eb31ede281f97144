/// Takes the body of a reply with status 200 piece by piece, where an excerpt is not enough.
///
/// Both closures are called on the client's thread, which serves all its requests, one call after the other and none
/// after the request has its result: they must not wait. Who answers false has had enough: the connection is closed, and
/// the reply counts as it is so far.
package struct ReplySink: Sendable {
    /// What is known of a reply when its body begins.
    package struct Head: Sendable, Equatable {
        /// As ``OutboundReply/headers``.
        package let headers: [String: String]
        /// The length that the server announced.
        package let announcedBytes: Int?

        package init(headers: [String: String] = [:], announcedBytes: Int? = nil) {
            self.headers = headers
            self.announcedBytes = announcedBytes
        }
    }

    /// Asked once, before the first piece; not at all where the body is empty.
    package let begin: @Sendable (Head) -> Bool
    package let take: @Sendable (UnsafeRawBufferPointer) -> Bool

    package init(
        begin: @escaping @Sendable (Head) -> Bool, take: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) {
        self.begin = begin
        self.take = take
    }
}
