import SignalboxGateway
import SignalboxNotification
import Testing

@Suite struct MediaKindTests {
    @Test(arguments: try MediaFixture.all())
    func findsTheKindByTheFirstBytes(_ file: MediaFixture) {
        let kind = MediaKind(beginning: Array(file.bytes.prefix(MediaKind.telling)))
        #expect(kind == file.kind)
        #expect(kind.contentType == file.expected.contentType)
        #expect(kind.family?.rawValue == file.expected.family)
        #expect(kind.fileExtension == file.expected.extension)
    }

    @Test func everyKindHasFixtures() throws {
        #expect(Set(try MediaFixture.all().map(\.kind)) == Set(MediaKind.allCases))
    }

    /// So the kind does not depend on how many bytes are read.
    @Test(arguments: try MediaFixture.all())
    func laterBytesDoNotChangeTheKind(_ file: MediaFixture) {
        guard file.bytes.count > MediaKind.telling else { return }
        #expect(MediaKind(beginning: file.bytes) == file.kind)
    }

    /// Each tag of the table in section 7.1 of the MIME Sniffing Standard.
    @Test(arguments: [
        "<!DOCTYPE HTML", "<HTML", "<HEAD", "<SCRIPT", "<IFRAME", "<H1", "<DIV", "<FONT", "<TABLE", "<A", "<STYLE",
        "<TITLE", "<B", "<BODY", "<BR", "<P", "<!--",
    ])
    func findsEveryTagOfHTML(_ tag: String) {
        for text in [tag, tag.lowercased()] {
            for text in [text + ">", text + " ", "\t\n\u{C}\r " + text + ">"] {
                #expect(MediaKind(beginning: Array(text.utf8)) == .html, "\(text)")
            }
            #expect(MediaKind(beginning: Array((text + "x").utf8)) != .html, "\(text)x")
            #expect(MediaKind(beginning: Array(("a" + text + ">").utf8)) == .other)
        }
    }

    @Test(arguments: [
        ("isom", ["mp41"], MediaKind.mp4), ("mp42", [], .mp4), ("M4V ", ["M4A "], .mp4), ("M4A ", ["mp42"], .m4a),
        ("M4B ", [], .m4a), ("XAVC", ["mp42"], .mp4), ("abcd", ["efgh"], .other), ("qt  ", ["qt  "], .quicktime),
        ("mif1", ["heic"], .heic), ("mif1", ["avif"], .avif), ("mif1", ["miaf"], .other), ("avis", [], .avif),
        ("3gp5", ["isom"], .other),
    ])
    func findsTheKindByTheBrand(_ brand: String, others: [String], kind: MediaKind) {
        let type = Array((brand + "\0\0\0\0" + others.joined()).utf8)
        let box = [0, 0, 0, UInt8(type.count + 8)] + Array("ftyp".utf8) + type
        #expect(MediaKind(beginning: box + [UInt8](repeating: 0, count: 50)) == kind)
    }

    @Test func truncatedFilesHaveNoOtherFamily() throws {
        for file in try MediaFixture.all() where file.kind.family != nil {
            for length in 0..<min(64, file.bytes.count) {
                let kind = MediaKind(beginning: Array(file.bytes.prefix(length)))
                #expect(kind == .other || kind.family == file.kind.family, "\(file), \(length) bytes: \(kind)")
            }
        }
    }

    @Test func findsTheKindOfAMediaType() {
        #expect(MediaKind(mediaType: "image/jpg") == .jpeg)
        #expect(MediaKind(mediaType: "audio/x-wav") == .wav)
        #expect(MediaKind(mediaType: "audio/mp4") == .m4a)
        #expect(MediaKind(mediaType: "video/mpeg") == .mpeg)
        #expect(MediaKind(mediaType: "video/avi") == .avi)
        for name in ["image/svg+xml", "text/html", "application/octet-stream", "application/pdf", "", "IMAGE/PNG"] {
            #expect(MediaKind(mediaType: name) == nil, "\(name)")
        }
        for kind in MediaKind.allCases where kind.family != nil {
            #expect(MediaKind(mediaType: kind.contentType) == kind)
        }
    }
}
