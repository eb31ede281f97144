import Foundation
import SignalboxGateway
import Testing

/// `openssl dgst -sha256 -hmac` printed the expected signatures.
@Suite struct MediaLinksTests {
    private static let name = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    /// 2026-11-20 21:29:00 UTC.
    private static let now = Date(timeIntervalSince1970: 1_795_210_140)
    /// 2026-11-27 22:00:00 UTC.
    private static let end = 1_795_816_800
    private static let signature = "yZask7sx_3d5ZHHv_UuI5HZYnYBFMjrU8eZNR-JwJ20"
    private static let olderSignature = "ptTXDK_Bu_cDORJD_HJK0JTBMdAeLHLWWgdGD8UygVs"

    private static func signed(
        _ secrets: [String] = ["an example secret"], expiry: Duration = .seconds(7 * 86_400)
    ) -> MediaLinks {
        MediaLinks(publicUrl: "https://gateway.example/", secrets: secrets, expiry: expiry)
    }

    private static func verdict(
        _ links: MediaLinks, name: String = name, expires: String? = "\(end)", signature: String? = signature,
        at now: Date = now
    ) -> MediaLinks.Verdict {
        links.verdict(on: name, expires: expires, signature: signature, now: now)
    }

    @Test func unsignedLinksNeverExpire() {
        let bases = [
            ("https://gateway.example", "https://gateway.example"),
            ("https://a.example/push/", "https://a.example/push"),
            (nil, ""),
        ]
        for (base, root) in bases {
            let links = MediaLinks(publicUrl: base)
            #expect(links.href(Self.name, now: Self.now) == root + "/media/" + Self.name)
            #expect(Self.verdict(links, expires: nil, signature: nil) == .open)
            #expect(Self.verdict(links, expires: "1", signature: "a") == .open)
        }
    }

    @Test func signsLinks() {
        let href = Self.signed().href(Self.name, now: Self.now)
        #expect(
            href == "https://gateway.example/media/\(Self.name)?expires=\(Self.end)&signature=\(Self.signature)")
    }

    @Test func linksOfOneHourAreEqual() {
        let links = Self.signed()
        let href = links.href(Self.name, now: Self.now)
        // 21:00:00.001 to 22:00:00.
        for seconds in [-1739.999, 0, 1860] {
            #expect(links.href(Self.name, now: Self.now + seconds) == href, "\(seconds)")
        }
        for seconds in [-1740, 1860.001] {
            #expect(links.href(Self.name, now: Self.now + seconds) != href, "\(seconds)")
        }
    }

    @Test func linksExpire() {
        let links = Self.signed()
        #expect(Self.verdict(links) == .signed(secondsLeft: 606_660))
        let end = Date(timeIntervalSince1970: TimeInterval(Self.end))
        #expect(Self.verdict(links, at: end - 1) == .signed(secondsLeft: 1))
        #expect(Self.verdict(links, at: end - 0.5) == .signed(secondsLeft: 1))
        #expect(Self.verdict(links, at: end) == .expired)
    }

    @Test func rejectsForeignSignatures() {
        let links = Self.signed()
        let other = String(Self.name.reversed())
        let later = Self.now + 30 * 86_400
        for now in [Self.now, later] {
            #expect(Self.verdict(links, name: other, at: now) == .wrong)
            #expect(Self.verdict(links, expires: "\(Self.end + 1)", at: now) == .wrong)
            #expect(Self.verdict(links, expires: "0\(Self.end)", at: now) == .wrong)
            for signature in ["", "a", Self.signature + "=", String(Self.signature.dropLast()), Self.olderSignature] {
                #expect(Self.verdict(links, signature: signature, at: now) == .wrong, "\(signature)")
            }
        }
        #expect(Self.verdict(links, at: later) == .expired)
        for expires in ["", "never", "-1", "99999999999999999999999"] {
            #expect(Self.verdict(links, expires: expires) == .wrong, "\(expires)")
        }
    }

    @Test func linksWithoutTimeOrSignatureAreUnsigned() {
        let links = Self.signed()
        #expect(Self.verdict(links, expires: nil, signature: nil) == .unsigned)
        #expect(Self.verdict(links, expires: nil) == .unsigned)
        #expect(Self.verdict(links, signature: nil) == .unsigned)
    }

    @Test func acceptsEverySecretAndSignsWithTheFirst() {
        let links = Self.signed(["an example secret", "the older secret"])
        #expect(links.href(Self.name, now: Self.now).hasSuffix(Self.signature))
        #expect(Self.verdict(links) == .signed(secondsLeft: 606_660))
        #expect(Self.verdict(links, signature: Self.olderSignature) == .signed(secondsLeft: 606_660))
        #expect(Self.verdict(Self.signed(["the older secret"])) == .wrong)
    }
}
