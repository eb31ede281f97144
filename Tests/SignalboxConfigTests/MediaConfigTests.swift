import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct MediaConfigTests {
    @Test func defaultsAreTheFormatsOfApple() throws {
        for text in ["{}", "{\"media\": {}}"] {
            let media = try RoutedConfig(Array(text.utf8)).config.media
            #expect(media.maxBytes[.image] == 10_485_760)
            #expect(media.maxBytes[.audio] == 5_242_880)
            #expect(media.maxBytes[.video] == 52_428_800)
            #expect(
                media.types == [
                    "image/png", "image/jpeg", "image/gif", "image/webp", "audio/aiff", "audio/wav", "audio/mpeg",
                    "audio/mp4", "video/mp4", "video/mpeg", "video/mpeg2", "video/x-msvideo",
                ])
            #expect(media.timeout == .seconds(20) && !media.allowHttp && media.allow.isEmpty)
            #expect(media.transport == TransportOptions() && media.signedUrls == nil)
            #expect(media.concurrency == 32 && media.perHost == 8)
            #expect(media.retry == Destination.Retry(attempts: 5, base: .seconds(2), max: .seconds(300)))
            #expect(media.retention.age == .seconds(2_592_000) && media.retention.bytes == 10_000_000_000)
        }
    }

    @Test func perHostIsAtMostConcurrency() throws {
        let media = try RoutedConfig(Array("{\"media\": {\"concurrency\": 4}}".utf8)).config.media
        #expect(media.concurrency == 4 && media.perHost == 4)
    }

    /// The spelling of the expected files.
    static func spelled(_ media: GatewayConfig.Media) -> [String] {
        let retry = media.retry
        let (tls, signed) = (media.transport.tls, media.signedUrls)
        let secrets = signed?.secrets.map(\.description).joined(separator: "+") ?? ""
        let proxy =
            switch media.transport.proxy {
            case .none: "none"
            case .environment: "environment"
            case .address(let url): url
            }
        return [
            "image \(media.maxBytes.image) audio \(media.maxBytes.audio) video \(media.maxBytes.video)",
            "timeout \(media.timeout.text)", "types " + media.types.joined(separator: " "),
            "http \(media.allowHttp)", "allow " + media.allow.map(\.description).joined(separator: " "),
            "ca \(tls.authorities ?? "-") certificate \(tls.certificate ?? "-") TLS \(tls.minimum.rawValue)",
            "proxy " + proxy, "x\(media.concurrency) of one host \(media.perHost)",
            "retry \(retry.attempts) \(retry.base.text) \(retry.max.text)",
            "kept \(media.retention.age.text) \(media.retention.bytes)",
            "signed " + (signed.map { "\(secrets) \($0.expiry.text)" } ?? "not"),
        ]
    }
}
