import Testing

@testable import SignalboxServer

/// Requests that the HTTP/2 library accepts, and RFC 9113 does not.
@Suite(.timeLimit(.minutes(15)))
struct MalformedRequestTests {
    /// The stream is reset with PROTOCOL_ERROR (RFC 9113, 8.1.1); the connection stays.
    @Test func resetsStreamsOfMalformedRequests() async throws {
        let frames = try await TestListener.run { try await $0.play("malformed").texts("frame") }
        #expect(
            frames == [1, 3, 5, 7, 9, 11].map { "RST_STREAM \($0) 0 00000001" }
                + [13, 15].map { "HEADERS \($0) 5 :status=200" })
    }
}
