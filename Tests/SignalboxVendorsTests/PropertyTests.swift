import Foundation
import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

/// Properties of every payload, tested with many. The seed is in each failure's message: put it into `Seeded` to
/// repeat.
@Suite struct PropertyTests {
    private static let seed: UInt64 = 20_260_117

    @Test(arguments: try Fixture.all(in: .module))
    func unknownKeysChangeOnlyCustom(_ fixture: Fixture) throws {
        var random = Seeded(Self.seed)
        let plain = try Normalised(fixture).notification
        for _ in 0..<8 {
            var tree = try Tree(fixture.input)
            tree.insertBesideVendorKeys("zz-\(random.next())", .string("unknown"))
            var other = try Normalised(fixture, payload: tree.bytes).notification
            other.custom = plain.custom
            #expect(other == plain, "seed \(Self.seed)")
        }
    }

    /// The same property, within every object that a vendor or a service reads. In some, any key is something: a button
    /// in Braze's `ab_cat` and Klaviyo's `actions`, a picture in OneSignal's `att`.
    @Test(arguments: try Fixture.all(in: .module))
    func unknownNestedKeysDoNotChangeOtherFields(_ fixture: Fixture) throws {
        let plain = Unordered(try Normalised(fixture).notification, keepsCustom: false)
        var tree = try Tree(fixture.input)
        var maps: Set<String> = ["ab_cat", "actions"]
        if fixture.folder == "onesignal" { maps.insert("att") }
        tree.insertWithin("zz-unknown", .string("unknown"), except: maps)
        let other = try Normalised(fixture, payload: tree.bytes).notification
        #expect(Unordered(other, keepsCustom: false) == plain)
    }

    /// Except for repeated keys: the last one counts. Lists that the payload orders by its keys follow them.
    @Test(
        arguments: try Fixture.all(in: .module).filter { $0.name != "repeated-keys" && $0.name != "apple-own-category" }
    )
    func theOrderOfKeysDoesNotMatter(_ fixture: Fixture) throws {
        var random = Seeded(Self.seed)
        let plain = try Normalised(fixture)
        for _ in 0..<8 {
            var tree = try Tree(fixture.input)
            tree.shuffle(using: &random)
            let other = try Normalised(fixture, payload: tree.bytes)
            #expect(Unordered(other.notification) == Unordered(plain.notification), "seed \(Self.seed)")
        }
    }

    @Test func randomObjectsAreReadWithoutTrapping() throws {
        var random = Seeded(Self.seed)
        for _ in 0..<4000 {
            let tree = Tree.random(using: &random)
            let read = try Normalised(tree.bytes)
            #expect(try Tree(read.json).isObject, "seed \(Self.seed)")
        }
    }

    /// Any value of a sample replaced by one of another type.
    @Test(arguments: try Sample.all())
    func editedSamplesAreReadWithoutTrapping(_ sample: Sample) throws {
        var random = Seeded(Self.seed)
        for _ in 0..<40 {
            var tree = try Tree(sample.payload)
            for _ in 0...Int.random(in: 0...2, using: &random) { tree.damage(using: &random) }
            let read = try Normalised(tree.bytes)
            #expect(try Tree(read.json).isObject, "seed \(Self.seed)")
        }
    }

    /// As with fixtures.
    @Test(arguments: try Sample.all())
    func theOrderOfASamplesKeysDoesNotMatter(_ sample: Sample) throws {
        var random = Seeded(Self.seed)
        let plain = try Normalised(sample.payload)
        var tree = try Tree(sample.payload)
        tree.shuffle(using: &random)
        let other = try Normalised(tree.bytes)
        #expect(Unordered(other.notification) == Unordered(plain.notification), "seed \(Self.seed)")
    }

    /// Any value of a fixture replaced by one of another type.
    @Test(arguments: try Fixture.all(in: .module))
    func valuesOfWrongTypesAreReadWithoutTrapping(_ fixture: Fixture) throws {
        var random = Seeded(Self.seed)
        for _ in 0..<60 {
            var tree = try Tree(fixture.input)
            tree.damage(using: &random)
            let read = try Normalised(fixture, payload: tree.bytes)
            #expect(try Tree(read.json).isObject, "seed \(Self.seed)")
        }
    }
}

/// A notification whose warnings and custom keys may have any order.
private struct Unordered: Equatable {
    let notification: PushNotification
    let warnings: [String]
    let custom: String

    init(_ source: PushNotification, keepsCustom: Bool = true) {
        var plain = source
        warnings = source.warnings.map { $0.code + $0.path }.sorted()
        custom = source.custom.map { keepsCustom ? Tree.sorted($0.bytes) : "" } ?? ""
        plain.warnings = []
        plain.custom = nil
        plain.inApp = plain.inApp.map { .init(layout: $0.layout, pages: []) }
        plain.action?.arguments = nil
        plain.liveActivity?.contentState = nil
        plain.liveActivity?.attributes = nil
        for position in plain.category?.actions.indices ?? 0..<0 {
            plain.category?.actions[position].action.arguments = nil
        }
        for position in plain.messages.indices {
            plain.messages[position].content = nil
            plain.messages[position].action?.arguments = nil
        }
        notification = plain
    }
}
