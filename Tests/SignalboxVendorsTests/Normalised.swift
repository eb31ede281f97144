import SignalboxJSON
import SignalboxModel
import SignalboxPlatforms
import SignalboxVendors

/// A payload through platform and chain, as far as an event's `data`.
struct Normalised {
    let notification: PushNotification
    let json: [UInt8]

    init(_ payload: [UInt8], by chain: VendorChain = VendorChain()) throws {
        let parser = JSONParser()
        let root = try parser.parse(payload)
        notification = chain.read(try Platforms.recognise(root, size: payload.count, parser: parser))
        var writer = JSONWriter()
        writer.notification(notification)
        json = writer.bytes
    }

    init(_ payload: String) throws { try self.init(Array(payload.utf8)) }

    /// How sure each detector is of a payload.
    static func strengths(_ payload: [UInt8]) throws -> [VendorID: Detection.Strength] {
        let parser = JSONParser()
        let opened = try Platforms.recognise(try parser.parse(payload), size: payload.count, parser: parser)
        var strengths: [VendorID: Detection.Strength] = [:]
        for claim in VendorChain().claims(on: opened).all { strengths[claim.vendor] = claim.detection.strength }
        return strengths
    }
}
