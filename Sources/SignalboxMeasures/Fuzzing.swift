import Foundation
import SignalboxGateway
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification

/// The entry of the fuzzer in `Fuzz/`, which links this target.
extension Stages {
    /// Reads any bytes as a payload, by every vendor with code in turn and by one of the catalogue. Traps if the
    /// result is not an event: not JSON, or larger than the payload accounts for. An unreadable payload must be
    /// refused. Then reads the bytes as a media file, and as forms of in-app messages. The buffer may end anywhere
    /// and may be empty. Not safe to call from two threads.
    public static func tryEverything(on bytes: UnsafeBufferPointer<UInt8>) {
        fuzzing.events(bytes)
        fuzzing.media(bytes)
        fuzzing.forms(Array(bytes))
    }

    // The fuzzer calls from one thread, which reuses the parsers.
    private nonisolated(unsafe) static let fuzzing = Fuzzing()
}

/// The parsers and buffers that are reused from input to input. Reuse makes a fuzzer find values that outlive their
/// payload, too.
private struct Fuzzing {
    /// Kept from input to input, as the gateway keeps its parsers.
    private let payloads = Normalizer.makeParser()
    /// Parsers that check the events that were made.
    private let events = ParserPool.events
    /// Without custom vendors. Its key is fixed, so events are reproducible.
    private let normalizer = Normalizer(
        chain: VendorChain(), gateway: "fuzz", tokens: TokenHash(key: [UInt8](repeating: 7, count: 32)),
        registersMessages: true)
    /// Fixed, so equal inputs take the same path.
    private let receivedAt = Date(timeIntervalSince1970: 1_795_210_140.123)

    /// Returns early for an unreadable payload: no vendor could read it either.
    func events(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard isRead(bytes, as: nil) else { return }
        for detector in Vendors.detectors { _ = isRead(bytes, as: detector.vendor) }
        readByCatalogue(bytes)
    }

    /// Reads the bytes as a media file: of the kind that they begin with, and of a kind that their number selects.
    /// Traps if a picture that is recognised has no size.
    func media(_ bytes: UnsafeBufferPointer<UInt8>) {
        let file = Array(bytes)
        let kinds = MediaKind.allCases
        for kind in [MediaKind(beginning: file), kinds[file.count % kinds.count]] {
            guard let size = PictureSize(of: kind, in: file) else { continue }
            precondition(size.width > 0 && size.height > 0, "A picture has no size.")
        }
    }

    /// Reads the bytes as the forms of in-app messages and requests. A message must read back as it was written.
    /// Errors are expected and ignored; a form that reads is written and read again.
    func forms(_ bytes: [UInt8]) {
        _ = try? TriggerForm.read(bytes, ticket: "fuzz")
        _ = try? SlotForm.read(bytes, ticket: "fuzz")
        _ = try? ReportForm.read(bytes, offer: "fuzz", ticket: "next")
        _ = try? ExplainForm.read(bytes)
        guard let form = try? MessageForm.read(bytes, id: "fuzz", revision: 1, registeredAt: 0) else { return }
        let again = try? MessageForm.read(form.write(), id: "fuzz", revision: 1, registeredAt: 0)
        precondition(again == form, "A form does not read back as it was written.")
    }

    /// Reads by one vendor of the catalogue, which the bytes select: all of them would take too long. Reads the
    /// payload whether or not it has evidence of the vendor.
    private func readByCatalogue(_ bytes: UnsafeBufferPointer<UInt8>) {
        let catalogue = Catalogue.builtIn
        let vendors = catalogue.profiles
        let entry = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % vendors.count
        guard let payload = try? normalizer.recognise(bytes, at: PayloadPosition(), with: payloads) else { return }
        var notification = PushNotification(platform: payload.platform)
        notification.vendor = vendors[entry].vendor
        let match = VendorMatch(notification.vendor, Detection(.hint, evidence: []), entry: entry)
        catalogue.read(payload, as: match, into: &notification)
        var json = JSONWriter()
        json.beginObject()
        json.key("data")
        json.notification(notification)
        json.endObject()
        check(json.bytes, against: bytes.count)
    }

    /// False for a payload that the normalizer rejects. `vendor`: nil lets the chain decide.
    private func isRead(_ bytes: UnsafeBufferPointer<UInt8>, as vendor: VendorID?) -> Bool {
        let reception = Reception(from: .default, at: receivedAt, vendor: vendor)
        guard let event = try? normalizer.event(bytes, as: reception, at: PayloadPosition(), with: payloads) else {
            return false
        }
        check(event.body, against: bytes.count)
        for message in event.messages {
            let form = try? MessageForm.read(message.body, id: message.id, revision: 1, registeredAt: 0)
            precondition(form != nil, "A registered message does not read back.")
        }
        return true
    }

    /// An event has at most a few bytes for each byte of its payload: escapes, and two copies. Warnings and the
    /// envelope are limited. Traps with the sizes, which the fuzzer reports with its input.
    private func check(_ event: [UInt8], against size: Int) {
        precondition(event.count < 64 * 1024 + size * 64, "The event of \(size) bytes has \(event.count).")
        events.withParser { parser in
            guard let value = try? parser.parse(event) else { preconditionFailure("The event is not JSON.") }
            precondition(value["data"]?.isObject == true, "The event has no data.")
        }
    }
}
