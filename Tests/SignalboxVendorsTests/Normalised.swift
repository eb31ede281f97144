import SignalboxJSON
import SignalboxTesting

@testable import SignalboxNotification

/// A payload through platform and chain, as far as an event's `data`.
struct Normalised {
    let notification: PushNotification
    let json: [UInt8]

    /// `vendor`: for whom the source is configured.
    init(_ payload: [UInt8], by chain: VendorChain = VendorChain(), from vendor: VendorID? = nil) throws {
        let parser = JSONParser()
        let opened = try Platforms.recognise(try parser.parse(payload), size: payload.count, parser: parser)
        var notification = PushNotification(platform: opened.platform)
        notification.readsMessages = true
        if let vendor {
            chain.read(opened, as: vendor, into: &notification)
        } else {
            chain.read(opened, into: &notification)
        }
        self.notification = notification
        var writer = JSONWriter()
        writer.notification(notification)
        json = writer.bytes
    }

    init(_ payload: String) throws { try self.init(Array(payload.utf8)) }

    /// A fixture as it comes in: those of vendors that leave no mark come from a source that is configured for them.
    init(_ fixture: Fixture, payload: [UInt8]? = nil, by chain: VendorChain = VendorChain()) throws {
        let isMarked = !Vendors.namedBySource.contains(fixture.folder)
        try self.init(payload ?? fixture.input, by: chain, from: isMarked ? nil : VendorID(fixture.folder))
    }

    /// How sure each detector is of a payload.
    static func strengths(_ payload: [UInt8]) throws -> [VendorID: Detection.Strength] {
        let parser = JSONParser()
        let opened = try Platforms.recognise(try parser.parse(payload), size: payload.count, parser: parser)
        var strengths: [VendorID: Detection.Strength] = [:]
        for match in VendorChain().matches(for: opened).all { strengths[match.vendor] = match.detection.strength }
        return strengths
    }
}
