import Foundation
import Logging
import SignalboxJSON
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct KeyDriftTests {
    private static func pointers(_ text: String) throws -> [String: KeyType] {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) { KeyPointers.of(try parser.parse(Array(text.utf8))) }
    }

    // MARK: Pointers

    @Test func listsTheLeavesWithTheirTypes() throws {
        let found = try Self.pointers(
            #"{"promo":{"id":7,"tags":["a","b"],"x/y":true},"empty":{},"none":[],"n":null,"#
                + #""items":[{"sku":"1"},{"sku":2}]}"#)
        #expect(
            found == [
                "/promo/id": .number, "/promo/tags/*": .string, "/promo/x~1y": .boolean, "/empty": .object,
                "/none": .array, "/n": .null, "/items/*/sku": .mixed,
            ])
    }

    @Test(arguments: [
        "0", "123", "93847261", "order_12345", "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11", "deadbeef01", "a@b.example",
        "a text with blanks", "Zm9vYmFyQmF6UXV4MTIz", "1a2b3c4d5e", "\u{0}",
    ])
    func keysThatAreDataAreFolded(key: String) {
        #expect(KeyPointers.isIdentifier(Array(key.utf8)))
    }

    @Test(arguments: [
        "", "promo", "utm_source", "x2", "sha256", "campaign_v2", "ab", "face", "url-args", "level_10", "größe",
        "nestedObjectWithALongName",
    ])
    func keysThatAreNamesStay(key: String) {
        #expect(!KeyPointers.isIdentifier(Array(key.utf8)))
    }

    @Test func isBoundedInDepthLengthAndNumber() throws {
        let deep = String(repeating: #"{"a":"#, count: 50) + "1" + String(repeating: "}", count: 50)
        #expect(try Self.pointers(deep) == [String(repeating: "/a", count: KeyPointers.deepest): .object])
        let long = String(repeating: "n", count: 40)
        let nested = #"{"\#(long)":{"\#(long)":{"\#(long)":{"\#(long)":{"\#(long)":1}}}}}"#
        let found = try Self.pointers(nested)
        #expect(found.count == 1 && found.keys.allSatisfy { $0.utf8.count <= KeyPointers.longest })
        let wide = "{" + (0..<5000).map { #""k\#(Self.letters($0))":1"# }.joined(separator: ",") + "}"
        #expect(try Self.pointers(wide).count == KeyPointers.most)
    }

    /// A name without digits for each number.
    private static func letters(_ number: Int) -> String {
        String(number).map { String(UnicodeScalar(UInt8(97 + ($0.wholeNumberValue ?? 0)))) }.joined()
    }

    // MARK: Vendors

    @Test func keysBeyondTheLimitAreCountedOnly() {
        var keys = VendorKeys()
        for number in 0..<10_000 { keys.record(["/\(Self.letters(number))": .string], at: Int64(number)) }
        #expect(keys.known.count == VendorKeys.most)
        #expect(keys.folded == 10_000 - VendorKeys.most)
        #expect(keys.known["/a"] == .init(firstSeen: 0, count: 1, type: .string))
    }

    @Test func vendorsBeyondTheLimitShareAName() {
        let drift = KeyDrift(since: ObservationSetting.start)
        for number in 0..<1000 {
            let routed = ObservationSetting.event(of: "v" + Self.letters(number), custom: #"{"a":1}"#)
            drift.record(RecentEvent(routed, payload: nil), at: ObservationSetting.start)
        }
        #expect(drift.snapshot.vendors.count == KeyDrift.mostVendors + 1)
        #expect(drift.snapshot.vendors[ActivityCounts.other]?.known["/a"]?.count == 1000 - KeyDrift.mostVendors)
    }

    @Test func aNewKeyIsRecordedOnceWithItsFirstTimeAndWithoutItsValue() throws {
        let setting = ObservationSetting()
        let service = DriftService(setting.observation, file: "/nowhere", logger: Logger(label: "test"))
        func send(_ custom: String) {
            setting.observation.accepted(
                EventTally([ObservationSetting.event(of: "braze", custom: custom)], without: [:]))
        }
        send(#"{"promo":{"id":"secret-value"}}"#)
        var position = service.examine(after: RecentPosition())
        setting.advance(by: .seconds(60))
        send(#"{"promo":{"id":7},"more":1}"#)
        position = service.examine(after: position)
        #expect(position.events == 2)
        let keys = try #require(setting.observation.drift.snapshot.vendors["braze"])
        let start = Int64(ObservationSetting.start.timeIntervalSince1970 * 1000)
        #expect(keys.known["/promo/id"] == .init(firstSeen: start, count: 2, type: .mixed))
        #expect(keys.known["/more"] == .init(firstSeen: start + 60_000, count: 1, type: .number))
        #expect(!"\(keys)".contains("secret-value"))
    }

    // MARK: The file

    @Test func aRestartContinuesTheRecord() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/vendor-keys.json"
            let first = ObservationSetting()
            first.observation.accepted(
                EventTally([ObservationSetting.event(of: "braze", custom: #"{"a/b":1}"#)], without: [:]))
            let service = DriftService(first.observation, file: file, logger: Logger(label: "test"))
            _ = service.examine(after: RecentPosition())
            service.store(.init())
            let second = ObservationSetting()
            second.advance(by: .seconds(3600))
            DriftService(second.observation, file: file, logger: Logger(label: "test")).restore()
            #expect(second.observation.drift.snapshot == first.observation.drift.snapshot)
            let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
        }
    }

    @Test func aFailedWriteHasTheSystemsReason() {
        #expect {
            try KnownKeysFile(path: "/proc/none/keys").write(KeyDrift.Snapshot(since: Date()))
        } throws: {
            "\($0)" == "No such file or directory"
        }
    }

    @Test func aFailedWriteIsRepeated() async throws {
        try await withTemporaryDirectory { directory in
            let folder = directory + "/later"
            let setting = ObservationSetting()
            setting.observation.accepted(
                EventTally([ObservationSetting.event(of: "braze", custom: #"{"a":1}"#)], without: [:]))
            let service = DriftService(
                setting.observation, file: folder + "/vendor-keys.json", logger: Logger(label: "test"))
            _ = service.examine(after: RecentPosition())
            service.store(.init())
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            service.store(.init())
            let stored = try KnownKeysFile(path: folder + "/vendor-keys.json").read()
            #expect(stored == setting.observation.drift.snapshot)
        }
    }

    @Test(arguments: [
        "", "{", "[]", #"{"version":2,"since":1,"vendors":{}}"#, #"{"version":1}"#,
        #"{"version":1,"since":9223372036854775807,"vendors":{}}"#,
    ])
    func anUnreadableFileBeginsANewRecord(text: String) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/vendor-keys.json"
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            #expect(throws: KnownKeysFile.Failure.unreadable) { try KnownKeysFile(path: file).read() }
            let setting = ObservationSetting()
            DriftService(setting.observation, file: file, logger: Logger(label: "test")).restore()
            #expect(setting.observation.drift.snapshot.vendors.isEmpty)
        }
    }

    @Test func largeCountsOfAFileLeaveRoomForMore() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/vendor-keys.json"
            let key = #""/a":{"firstSeen":1,"count":9223372036854775807,"type":"null"}"#
            let text =
                #"{"version":1,"since":5000,"vendors":{"mce":{"folded":9223372036854775807,"keys":{\#(key)}}}}"#
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let keys = try #require(try KnownKeysFile(path: file).read()?.vendors["mce"])
            #expect(keys.known["/a"]?.count == 1 << 53)
            #expect(keys.folded == 1 << 53)
        }
    }

    @Test func aFileOfTooManyKeysIsCut() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/vendor-keys.json"
            let keys = (0..<1000).map { #""/\#(Self.letters($0))":{"firstSeen":1,"count":1,"type":"null"}"# }
            let all = keys.joined(separator: ",")
            let text = #"{"version":1,"since":5000,"vendors":{"mce":{"folded":2,"keys":{\#(all)}}}}"#
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let snapshot = try #require(try KnownKeysFile(path: file).read())
            #expect(snapshot.since == Date(timeIntervalSince1970: 5))
            #expect(snapshot.vendors["mce"]?.known.count == VendorKeys.most)
            #expect(snapshot.vendors["mce"]?.folded == 2)
        }
    }
}
