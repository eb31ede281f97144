import SignalboxEgress
import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct CategoryDefinitionTests {
    private static let seed: UInt64 = 20_261_121
    private let resolution = CategoryResolution(statics: StaticCategories()) {
        hexadecimal(sha256($0).prefix(16))
    }

    private func name(_ category: Category) throws -> String {
        var notification = PushNotification(platform: .apns)
        notification.category = category
        resolution.resolve(&notification)
        return try #require(notification.category?.identifier)
    }

    /// Both ways: equal definitions have equal identifiers, and equal identifiers stand for equal definitions.
    @Test func equalDefinitionsAndNoOthersHaveEqualIdentifiers() throws {
        print("seed \(Self.seed)")
        var random = SeededGenerator(seed: Self.seed)
        var names: [[[[UInt8]?]]: String] = [:]
        var definitions: [String: [[[UInt8]?]]] = [:]
        var repeats = 0
        for _ in 0..<30_000 {
            let sample = RandomCategory(using: &random)
            let (name, parts) = (try name(sample.category), sample.parts)
            if let earlier = names.updateValue(name, forKey: parts) {
                repeats += 1
                #expect(earlier == name, "seed \(Self.seed): equal buttons, other names")
            }
            if let earlier = definitions.updateValue(parts, forKey: name) {
                #expect(earlier == parts, "seed \(Self.seed): one name for other buttons")
            }
        }
        #expect(repeats > 1000, "seed \(Self.seed): \(repeats) equal ones prove little")
    }

    /// Of nearly equal categories that differ in one part of one button, none share a name.
    @Test func everyPartOfAButtonCounts() throws {
        let base = Category.Button(
            identifier: "a", title: "A", action: Action(.custom, value: "1", vendorType: "w"), textInput: .init())
        var others: [Category.Button] = [base]
        func other(_ change: (inout Category.Button) -> Void) {
            var button = base
            change(&button)
            others.append(button)
        }
        other { $0.identifier = "b" }
        other { $0.title = "B" }
        other { $0.title = nil }
        other { $0.title = "" }
        other { $0.action.type = .openUrl }
        other { $0.action.value = "2" }
        other { $0.action.value = nil }
        other { $0.action.vendorType = "v" }
        other { $0.action.vendorType = nil }
        other { $0.action.arguments = RandomCategory.object([("x", 1)]) }
        other { $0.action.arguments = RandomCategory.object([]) }
        for option in Category.Options.named { other { $0.options = option.option } }
        other { $0.textInput = nil }
        other { $0.textInput?.buttonTitle = "Send" }
        other { $0.textInput?.placeholder = "Send" }
        let names = try others.map { try name(Category(identifier: nil, origin: .dynamic, actions: [$0])) }
        #expect(Set(names).count == others.count)
        let twice = try name(Category(identifier: nil, origin: .dynamic, actions: [base, base]))
        #expect(!names.contains(twice))
    }

    @Test func buttonsOfSeveralVendorsShareACategory() throws {
        func category(_ word: String) -> Category {
            Category(
                identifier: nil, origin: .dynamic,
                actions: [.init(identifier: "a", title: "A", action: Action(.openUrl, value: "u", vendorType: word))])
        }
        #expect(try name(category("url")) == name(category("OPEN_URL")))
    }

    @Test func theOrderOfArgumentsDoesNotCount() throws {
        func category(_ members: [(String, Int)]) -> Category {
            let action = Action(.calendar, arguments: RandomCategory.object(members))
            return Category(
                identifier: nil, origin: .dynamic, actions: [.init(identifier: "a", title: "A", action: action)])
        }
        #expect(try name(category([("x", 1), ("y", 2)])) == name(category([("y", 2), ("x", 1)])))
        #expect(try name(category([("x", 1), ("y", 2)])) != name(category([("x", 2), ("y", 1)])))
    }

    @Test func aNameIsShortAndOfOneForm() throws {
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<100 {
            let name = try name(RandomCategory(using: &random).category)
            #expect(name.wholeMatch(of: /signalbox-[0-9a-f]{32}/) != nil, "\(name)")
        }
    }

    @Test func ignoresNotificationsWithoutACategory() {
        var notification = PushNotification(platform: .apns)
        notification.content.title = "Hello"
        let before = notification
        resolution.resolve(&notification)
        #expect(notification == before)
        #expect(resolution.definition(in: notification)?.record == nil)
    }
}
