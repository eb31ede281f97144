import Foundation
import Mustache
import SignalboxJSON

/// The work that one rendering may still do. Without it, a few nested sections over long lists would produce output
/// without end.
///
/// A class because all values of a rendering share it. It is not thread-safe; a rendering runs on one thread.
final class TemplateBudget {
    private let amount: Int
    /// May exceed the amount.
    private(set) var spent = 0
    /// The cost of an element of a list: all of the template may be written for each.
    let element: Int

    /// `amount`: bytes of output and visited members. `element`: cost of one element of a list.
    init(_ amount: Int, element: Int) {
        (self.amount, self.element) = (amount, element)
    }

    /// True if output is incomplete: the rendering failed.
    var isSpent: Bool { spent >= amount }

    /// May exceed the budget; callers check ``isSpent``.
    func spend(_ cost: Int) { spent += cost }
}

/// A value of an event as Mustache sees it, read in place; each lookup spends from the budget. Numbers are not
/// Swift's numbers, because the library would calculate beyond their limits and trap. It must not outlive the parser
/// that holds the event.
struct TemplateValue {
    let value: JSONValue
    let budget: TemplateBudget

    /// The value that the library receives for a JSON value. Booleans and null become Swift values; all others stay
    /// wrapped. The elements of a list are copied, so this spends one for each.
    static func context(_ value: JSONValue, _ budget: TemplateBudget) -> Any {
        if value.isString { return TemplateText(source: .event(value), budget: budget) }
        if let flag = value.bool { return flag }
        if value.isNull { return NSNull() }
        let wrapped = TemplateValue(value: value, budget: budget)
        guard value.isArray else { return wrapped }
        let elements = Array(value.elements)
        budget.spend(elements.count)
        return TemplateList(elements: elements, whole: wrapped)
    }
}

extension TemplateValue: MustacheParent, MustacheCustomRenderable, MustacheTransformable {
    /// The last member with this name. Nil once the budget is spent, so a rendering ends early and is then rejected.
    func child(named name: String) -> Any? {
        guard !budget.isSpent else { return nil }
        var name = name
        var found: JSONValue?
        var visited = 1
        name.withUTF8 { name in
            for (key, member) in value.members {
                visited += 1
                if key.equals(name) { found = member }
            }
        }
        budget.spend(visited)
        return budget.isSpent ? nil : found.map { Self.context($0, budget) }
    }

    /// The value as JSON, for an object or array that is inserted as a whole.
    var renderText: String {
        guard !budget.isSpent else { return "" }
        let text = JSONText(value)
        budget.spend(text.bytes.count)
        return text.string
    }

    var isNull: Bool { false }

    /// The functions of the library that apply to objects.
    func transform(_ name: String) -> Any? {
        guard value.isObject else { return nil }
        switch name {
        case "count":
            let count = value.members.reduce(0) { sum, _ in sum + 1 }
            budget.spend(count)
            return count
        case "empty": return value.isEmptyContainer
        default: return nil
        }
    }
}

/// A string of the event, or one that a function made of it. Each use of its text spends from the budget: a section
/// over a string may write it many times.
struct TemplateText: MustacheParent, MustacheCustomRenderable, MustacheTransformable {
    enum Source { case event(JSONValue), made(String) }

    let source: Source
    let budget: TemplateBudget

    /// Strings have no members.
    func child(named name: String) -> Any? { nil }
    var isNull: Bool { false }

    /// Empty once the budget is spent.
    var renderText: String {
        guard !budget.isSpent else { return "" }
        let text =
            switch source {
            case .event(let value): value.string ?? ""
            case .made(let text): text
            }
        budget.spend(text.utf8.count)
        return budget.isSpent ? "" : text
    }

    /// The functions of the library that apply to strings.
    func transform(_ name: String) -> Any? {
        let text = renderText
        if name == "empty" { return text.isEmpty }
        return text.transform(name).map { TemplateText(source: .made("\($0)"), budget: budget) }
    }
}

/// An array, perhaps reversed.
struct TemplateList: MustacheSequence, MustacheParent, MustacheCustomRenderable, MustacheTransformable {
    /// The elements in the order of the output.
    let elements: [JSONValue]
    /// The array, for its JSON text and its budget.
    let whole: TemplateValue

    /// Each element spends from the budget, so that loops end. Ends early once the budget is spent.
    func makeIterator() -> AnyIterator<Any> {
        var elements = elements.makeIterator()
        let budget = whole.budget
        return AnyIterator {
            budget.spend(budget.element)
            guard !budget.isSpent, let element = elements.next() else { return nil }
            return TemplateValue.context(element, budget)
        }
    }

    /// Lists have no members; their elements are reached by sections.
    func child(named name: String) -> Any? { nil }
    var renderText: String { whole.renderText }
    var isNull: Bool { false }

    /// The functions of the library that apply to lists.
    func transform(_ name: String) -> Any? {
        switch name {
        case "count": elements.count
        case "empty": elements.isEmpty
        case "first": elements.first.map { TemplateValue.context($0, whole.budget) }
        case "last": elements.last.map { TemplateValue.context($0, whole.budget) }
        case "reversed": reversed
        default: nil
        }
    }

    private var reversed: TemplateList {
        whole.budget.spend(elements.count)
        return TemplateList(elements: elements.reversed(), whole: whole)
    }
}
