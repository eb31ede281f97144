import Foundation
import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

/// The reference's sample payloads, read as its index says.
@Suite struct SampleTests {
    @Test(arguments: try Sample.all())
    func readsEverySampleAsTheIndexSays(_ sample: Sample) throws {
        let read = try Normalised(sample.payload).notification
        let differences = sample.differences(from: read)
        let known = SampleExceptions.all[sample.file]
        #expect(
            differences.map(\.field) == (known?.fields ?? []), "\(sample.file): \(differences.map(\.description))")
    }

    @Test(arguments: try Sample.all())
    func bringsNoWarningOfACatalogueVendor(_ sample: Sample) throws {
        let vendors = Set(Catalogue.builtIn.profiles.map(\.vendor.name))
        let warnings = try Normalised(sample.payload).notification.warnings
        let own = warnings.map(\.code).filter { vendors.contains(String($0.prefix { $0 != "." })) }
        #expect(own.isEmpty)
    }

    /// In the index they are links like others.
    @Test(arguments: [("mce/action_dial.apns.json", "dial"), ("mce/action_passbook.apns.json", "passbook")])
    func dialAndPassbookAreActionsOfTheirOwn(_ file: String, _ type: String) throws {
        let sample = try #require(try Sample.all().first { $0.file == file })
        #expect(try Normalised(sample.payload).notification.action?.type.rawValue == type)
    }

    @Test func everySampleIsThere() throws { #expect(try Sample.all().count == 314) }

    @Test func everyExceptionIsOfASample() throws {
        let files = Set(try Sample.all().map(\.file))
        #expect(SampleExceptions.all.keys.allSatisfy(files.contains))
    }
}

/// One payload of the reference and the expectations of its index.
struct Sample: Sendable, CustomStringConvertible {
    let file: String
    let vendor: String
    let expect: JSONText
    let payload: [UInt8]

    var description: String { file }

    static func all() throws -> [Sample] {
        guard let folder = Bundle.module.url(forResource: "Samples", withExtension: nil) else {
            throw CocoaError(.fileNoSuchFile)
        }
        let parser = JSONParser()
        let index = try parser.parse([UInt8](Data(contentsOf: folder.appendingPathComponent("index.json"))))
        return try withExtendedLifetime(parser) {
            try index.elements.map { entry in
                let file = entry["file"]?.string ?? ""
                return Sample(
                    file: file, vendor: entry["vendor"]?.string ?? "",
                    expect: JSONText(try #require(entry["expect"])),
                    payload: [UInt8](try Data(contentsOf: folder.appendingPathComponent(file))))
            }
        }
    }
}

// MARK: Comparing

extension Sample {
    struct Difference: CustomStringConvertible {
        let field: String
        let expected: String
        let found: String

        var description: String { "\(field): expected \(expected), found \(found)" }
    }

    /// Differences between the index and the notification.
    func differences(from read: PushNotification) -> [Difference] {
        var found: [Difference] = []
        func compare(_ field: String, _ expected: String?, _ actual: String?) {
            guard expected != actual else { return }
            found.append(Difference(field: field, expected: expected ?? "nothing", found: actual ?? "nothing"))
        }
        let nobody = ["apns-generic", "fcm-generic"].contains(vendor)
        compare("vendor", nobody ? "unknown" : vendor, read.vendor.name)
        let parser = JSONParser()
        guard let expect = try? parser.parse(expect.bytes) else {
            return [Difference(field: "expect", expected: "JSON", found: "a text that cannot be read")]
        }
        withExtendedLifetime(parser) {
            for (key, value) in expect.members {
                let field = String(decoding: key, as: UTF8.self)
                for (place, wanted, actual) in read.answers(to: field, value) {
                    compare(place, wanted, actual)
                }
            }
        }
        return found
    }
}

extension PushNotification {
    fileprivate typealias Answer = (field: String, expected: String?, actual: String?)

    /// The values of the notification and of the index for a field. An unknown field counts as a difference.
    fileprivate func answers(to field: String, _ value: JSONValue) -> [Answer] {
        switch field {
        case "title": [(field, value.string, content.title)]
        case "body": [(field, value.string, content.body)]
        case "subtitle": [(field, value.string, content.subtitle)]
        case "badge": [(field, value.integer.map { String($0) }, content.badge.map { String($0) })]
        case "deepLink": [(field, value.string, link(of: action))]
        case "campaign": [(field, value.string, campaign?.id)]
        case "category": [(field, value.string, category?.identifier)]
        case "actionType": [(field, value.string, action?.vendorType)]
        case "condition": [(field, value.string, target?.condition)]
        case "label": [(field, value.string, inline?.name)]
        case "smart": [(field, value.bool == true ? "optimal" : "immediate", schedule?.mode?.rawValue)]
        case "schedule":
            [
                ("schedule.start", Self.instant(value["start"]), schedule?.notBefore),
                ("schedule.end", Self.instant(value["end"]), schedule?.notAfter),
            ]
        case "channel": [(field, value.string, content.presentation.channelId)]
        case "openInWebView": [(field, value.bool == true ? "webView" : "a browser", action?.type.rawValue)]
        case "inboxMessageId": [(field, value.string, text(at: ["inboxMessageId"], in: action?.arguments))]
        case "richContentId": [(field, value.string, action?.type == .richContent ? action?.value : nil)]
        case "longBody": [(field, value.string, text(at: ["alert", "expandable", "value"], in: custom))]
        case "oversize":
            [(field, value.bool == true ? "yes" : "no", codes.contains { $0.hasSuffix("too-large") } ? "yes" : "no")]
        case "media": answers(toMedia: value)
        case "buttons": answers(toButtons: value)
        case "secondary":
            [(field, value.elements.compactMap(\.string).joined(separator: ","), also)]
        case "hint": [(field, value.string, also)]
        case "extras":
            value.members.map { key, value in
                let name = String(decoding: key, as: UTF8.self)
                return (field + "." + name, JSONText(value).string, member(name))
            }
        case "silent", "internal", "kind", "malformed", "opaque": answers(toState: field, value)
        default: [(field, "a field that the tests compare", nil)]
        }
    }

    private var codes: [String] { warnings.map(\.code) }

    /// As events write it.
    private static func instant(_ value: JSONValue?) -> String? {
        value?.utf8.flatMap { Timestamp(iso8601: $0)?.text }
    }

    private var also: String { detection.also.map(\.name).joined(separator: ",") }

    /// The index writes all of these as links, and a number to dial with its scheme.
    private func link(of action: Action?) -> String? {
        switch action?.type {
        case .openUrl, .deepLink, .webView, .passbook: action?.value
        case .dial: action?.value.map { "tel:" + $0 }
        default: nil
        }
    }

    private func text(at path: [String], in object: JSONText?) -> String? {
        let parser = JSONParser()
        guard let object, let root = try? parser.parse(object.bytes) else { return nil }
        return withExtendedLifetime(parser) {
            path.reduce(root) { value, key in value?.member(key) }?.string
        }
    }

    private func member(_ name: String) -> String? {
        let parser = JSONParser()
        guard let custom, let object = try? parser.parse(custom.bytes) else { return nil }
        return withExtendedLifetime(parser) { object.member(name).map { JSONText($0).string } }
    }

    private func answers(toMedia list: JSONValue) -> [Answer] {
        let wanted = list.elements.compactMap { $0["url"]?.string }.joined(separator: " ")
        let shown = media.filter { $0.role != .icon }.map(\.url).joined(separator: " ")
        return [("media", wanted, shown)]
    }

    private func answers(toButtons list: JSONValue) -> [Answer] {
        let buttons = category?.actions ?? []
        var answers: [Answer] = [("buttons", String(Array(list.elements).count), String(buttons.count))]
        for (position, (wanted, button)) in zip(list.elements, buttons).enumerated() {
            let place = "buttons.\(position)."
            answers.append((place + "title", wanted["title"]?.string, button.title))
            if let id = wanted["id"]?.string { answers.append((place + "id", id, button.identifier)) }
            if let link = wanted["link"] { answers.append((place + "link", link.string, self.link(of: button.action))) }
            if wanted["textInput"]?.bool == true {
                answers.append((place + "textInput", "true", button.textInput == nil ? "false" : "true"))
            }
        }
        return answers
    }

    private func answers(toState field: String, _ value: JSONValue) -> [Answer] {
        let isQuiet = [.silent, .control, .banner, .mandatoryUpgrade, .walkthrough, .inAppMessage].contains(kind)
        switch (field, value.string) {
        case ("silent", _): return [(field, value.bool == true ? "true" : "false", isQuiet ? "true" : "false")]
        case ("internal", _): return [(field, "control", kind.rawValue)]
        case ("kind", "carousel"): return [(field, "carousel", carousel == nil ? kind.rawValue : "carousel")]
        case ("kind", "inapp"):
            let isInApp = [.inAppMessage, .banner, .mandatoryUpgrade, .walkthrough].contains(kind) || inApp != nil
            return [(field, "inapp", isInApp ? "inapp" : kind.rawValue)]
        case ("malformed", _), ("opaque", _): return [(field, "warnings", warnings.isEmpty ? "none" : "warnings")]
        default: return [(field, value.string, vendorKind)]
        }
    }
}
