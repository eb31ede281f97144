import SignalboxJSON
import SignalboxTesting

@testable import SignalboxNotification

/// Categories out of few and confusable parts, so that equal ones come up often and nearly equal ones more often.
struct RandomCategory {
    var category: Category

    private static let texts = ["", "a", "b", "null", "[]", "\",\"", "a\",null", "é", "e\u{301}", "\u{0}", "\\", "ab"]

    init(using random: inout SeededGenerator) {
        let count = Int.random(in: 1...3, using: &random)
        category = Category(
            identifier: nil, origin: .dynamic, actions: (0..<count).map { _ in Self.button(using: &random) })
    }

    private static func text(using random: inout SeededGenerator) -> String {
        texts[Int.random(in: texts.indices, using: &random)]
    }

    private static func maybe(using random: inout SeededGenerator) -> String? {
        Bool.random(using: &random) ? text(using: &random) : nil
    }

    private static func button(using random: inout SeededGenerator) -> Category.Button {
        let types: [Action.ActionType] = [.openUrl, .custom, .reply]
        let action = Action(
            types[Int.random(in: types.indices, using: &random)], value: maybe(using: &random),
            vendorType: maybe(using: &random),
            arguments: Int.random(in: 0..<3, using: &random) == 0 ? arguments(using: &random) : nil)
        let input = Category.TextInput(buttonTitle: maybe(using: &random), placeholder: maybe(using: &random))
        return Category.Button(
            identifier: text(using: &random), title: maybe(using: &random), action: action,
            options: Category.Options(rawValue: Int.random(in: 0..<8, using: &random)),
            textInput: Int.random(in: 0..<3, using: &random) == 0 ? input : nil)
    }

    /// An object of two members in either order.
    private static func arguments(using random: inout SeededGenerator) -> JSONText {
        let members = [("x", Int.random(in: 0..<2, using: &random)), ("y", Int.random(in: 0..<2, using: &random))]
        return object(Bool.random(using: &random) ? members : members.reversed())
    }

    static func object(_ members: [(String, Int)]) -> JSONText {
        var writer = JSONWriter()
        writer.beginObject()
        for (key, value) in members {
            writer.key(key)
            writer.integer(value)
        }
        writer.endObject()
        return JSONText(writer)
    }

    /// The definition in other terms: every part as a text of its own, or nothing.
    var parts: [[[UInt8]?]] {
        category.actions.map { button in
            let custom = button.action.type == .custom
            let arguments = button.action.arguments.map { text in
                text.string.dropFirst().dropLast().split(separator: ",").sorted().joined(separator: ";")
            }
            return [
                button.identifier, button.title, button.action.type.rawValue, custom ? button.action.vendorType : nil,
                button.action.value, arguments, String(button.options.rawValue), button.textInput.map { _ in "input" },
                button.textInput?.buttonTitle, button.textInput?.placeholder,
            ].map { $0.map { Array($0.utf8) } }
        }
    }
}
