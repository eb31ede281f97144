import Foundation

/// Payloads shaped like those that vendors send, from a fixed seed: every run measures the same bytes.
struct Payloads {
    /// The mix: each kind of payload has the share that a team with four vendors sees.
    let mixed: [[UInt8]]

    init(count: Int = 20_000) {
        var random = Seeded(state: 20_261_120)
        mixed = (0..<count).map { _ in Array(Self.payload(&random).utf8) }
    }

    /// Writes so many payloads as NDJSON, in pieces: a process that is started inherits how large this one once was.
    func writeNDJSON(_ count: Int, to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        for start in stride(from: 0, to: count, by: 1000) {
            let lines = (start..<min(start + 1000, count)).flatMap { mixed[$0 % mixed.count] + [UInt8(ascii: "\n")] }
            try file.write(contentsOf: Data(lines))
        }
    }

    private static func payload(_ random: inout Seeded) -> String {
        let words = Words(random: &random)
        switch random.next() % 10 {
        case 0, 1: return synerise(words)
        case 2, 3: return brazeApple(words)
        case 4, 5: return brazeAndroid(words)
        case 6: return sourse(words)
        case 7: return mce(words)
        case 8: return plainApple(words)
        default: return plainGoogle(words)
        }
    }

    /// The values that differ from payload to payload.
    private struct Words {
        let title: String
        let body: String
        let id: String
        let sku: UInt64

        init(random: inout Seeded) {
            let subjects = [
                "Spring drop", "Your parcel", "Zażółć gęślą jaźń", "خصم ٢٠٪", "Gate change", "🎉 Members' week",
            ]
            let rest = ["is live now", "is with the neighbours", "ends on Sunday at midnight", "leaves from B12"]
            sku = random.next() % 1_000_000
            title = "\(subjects[Int(random.next() % 6)]) \(sku)"
            body = (0...Int(random.next() % 3)).map { _ in rest[Int(random.next() % 4)] }.joined(separator: ", ")
            id = String(random.next(), radix: 16) + String(random.next(), radix: 16)
        }
    }

    private static func synerise(_ words: Words) -> String {
        """
        {"aps":{"alert":{"title":"\(words.title)","body":"\(words.body)"},"sound":"default","badge":"1"},"issuer":"Synerise","message-type":"dynamic-content","content-type":"simple-push","content":{"campaign":{"variant_id":\(words.sku),"hash_id":"\(words.id)","type":"push","title":"\(words.title)"},"notification":{"action":{"type":"DEEP_LINKING","item":"shop://product?sku=\(words.sku)"}},"buttons":[{"identifier":"b1","text":"Visit the site","action":{"type":"OPEN_URL","item":"https://shop.example.com/p/\(words.sku)"}},{"identifier":"b2","text":"Open","action":{"type":"OPEN_APP"}}],"rich-media":{"type":"single-image","single-image":{"image":"https://cdn.example.com/\(words.sku).png"}}}}
        """
    }

    private static func brazeApple(_ words: Words) -> String {
        """
        {"aps":{"alert":{"title":"\(words.title)","body":"\(words.body)"},"sound":"default","mutable-content":1},"ab":{"c":"\(words.id)","att":{"url":"https://cdn.example.com/\(words.sku).jpg","type":"jpg"}},"ab_uri":"shop://product?sku=\(words.sku)","cohort":"b","sku":"\(words.sku)"}
        """
    }

    private static func brazeAndroid(_ words: Words) -> String {
        """
        {"message":{"token":"\(words.id)","android":{"priority":"HIGH","ttl":"86400s"},"data":{"_ab":"true","t":"\(words.title)","a":"\(words.body)","uri":"shop://product?sku=\(words.sku)","cid":"\(words.id)","ab_iu":"https://cdn.example.com/\(words.sku).jpg","ab_a0_id":"0","ab_a0_t":"Shop","ab_a0_a":"ab_uri","ab_a0_uri":"https://shop.example.com/p/\(words.sku)","extra":"{\\"sku\\":\\"\(words.sku)\\"}"}}}
        """
    }

    private static func sourse(_ words: Words) -> String {
        """
        {"message":{"condition":"'show-\(words.sku)' in topics && 'sourse_sdk_integrated' in topics","data":{"handler":"com.sourse.notification","title":"\(words.title)","message":"\(words.body)","actionURL":"tv://show/\(words.sku)","imageURL":"https://cdn.example.com/\(words.sku).jpg","tag":"show-\(words.sku)","isSmartNotification":"1","expiryDate":"2027-01-02T18:25:43.234Z","custom_showId":"\(words.sku)"}}}
        """
    }

    private static func mce(_ words: Words) -> String {
        """
        {"aps":{"alert":{"title":"\(words.title)","body":"\(words.body)"},"sound":"default","mutable-content":1},"notification-action":{"type":"url","value":"https://air.example.com/\(words.sku)"},"category-actions":[{"name":"Map","type":"url","value":"https://air.example.com/map"},{"name":"Call","type":"dial","value":"+15550100"}],"media-attachment":"https://cdn.example.com/\(words.sku).png","mce":{"attribution":"gate","mailingId":"\(words.sku)"}}
        """
    }

    private static func plainApple(_ words: Words) -> String {
        """
        {"aps":{"alert":{"title":"\(words.title)","body":"\(words.body)"},"badge":3,"thread-id":"t\(words.sku)"},"order":{"id":"\(words.id)","lines":[1,2,3]}}
        """
    }

    private static func plainGoogle(_ words: Words) -> String {
        """
        {"message":{"token":"\(words.id)","notification":{"title":"\(words.title)","body":"\(words.body)","image":"https://cdn.example.com/\(words.sku).png"},"android":{"notification":{"channel_id":"orders"}},"data":{"order":"\(words.id)"}}}
        """
    }

    /// SplitMix64.
    private struct Seeded {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
