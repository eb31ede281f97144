import Testing

@testable import SignalboxNotification

/// The kind of a medium before its download.
@Suite struct MediaFamilyTests {
    private func kind(
        _ url: String, _ role: Media.Role = .attachment, type: String? = nil, announced: MediaKind.Family? = nil
    ) -> MediaKind.Family? {
        Media(url: url, role: role, contentType: type, announced: announced).kind
    }

    @Test(arguments: [
        ("https://a.example/i.png", MediaKind.Family.image), ("https://a.example/i.JPEG?x=1.mp3#b", .image),
        ("https://a.example/a.b/s.mp3", .audio), ("https://a.example/f.mov", .video), ("/f.mp4", .video),
    ])
    func followsFromTheExtension(_ url: String, _ family: MediaKind.Family) { #expect(kind(url) == family) }

    @Test(arguments: [
        "https://a.example/i", "https://a.example/i.svg", "https://a.example/i.html", "https://cdn.ts",
        "https://cdn.ts?x",
        "https://a.png/i", "i.png", "", "https://a.example/i.pngpngpng", "https://a.example/.png.",
        "https://a.example/",
    ])
    func isUnknownWithoutAKnownExtension(_ url: String) { #expect(kind(url) == nil) }

    @Test func theTypeOfThePayloadTakesPrecedence() {
        #expect(kind("https://a.example/i.png", type: "video/mp4") == .video)
        #expect(kind("https://a.example/i", type: "Audio/MPEG; x=y") == .audio)
        #expect(kind("https://a.example/i.png", type: "application/octet-stream") == .image)
        #expect(kind("https://a.example/i", type: "image/svg+xml") == nil)
    }

    @Test func theKeyAndTheRoleDecideLast() {
        #expect(kind("https://a.example/i", announced: .image) == .image)
        #expect(kind("https://a.example/i.mp4", announced: .image) == .video)
        #expect(kind("https://a.example/i", .icon) == .image)
        #expect(kind("https://a.example/i", .carousel) == .image)
        #expect(kind("https://a.example/i", .background) == nil)
        #expect(kind("https://a.example/i.mp4", .carousel) == .video)
    }
}
