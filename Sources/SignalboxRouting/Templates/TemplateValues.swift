import Foundation
import Mustache
import SignalboxJSON

/// What is left for one rendering to do. A few nested sections over long lists could otherwise make output without end.
///
/// A class because all values of a rendering spend from it.
final class TemplateBudget {
    private(set) var left: Int
    /// What an element of a list costs: all of the template may be written for each.
    let element: Int

    init(_ amount: Int, element: Int) {
        left = amount
        self.element = element
    }

    var isSpent: Bool { left <= 0 }

    func spend(_ amount: Int) { left -= amount }
}

/// The values of an event as Mustache sees them: read in place, each look-up paid for. Numbers are not Swift's, with which
/// the library would calculate past their limits and trap.
struct TemplateValue {
    let value: JSONValue
    let budget: TemplateBudget

    /// What stands for a JSON value in a context.
    static func context(_ value: JSONValue, _ budget: TemplateBudget) -> Any {
        if let text = value.utf8 {
            budget.spend(text.count)
            return budget.isSpent ? "" : String(decoding: text, as: UTF8.self)
        }
        if let flag = value.bool { return flag }
        if value.isNull { return NSNull() }
        let wrapped = TemplateValue(value: value, budget: budget)
        return value.isArray ? TemplateList(elements: Array(value.elements), whole: wrapped) : wrapped
    }

    /// The compact JSON text, for what is inserted as a whole.
    private var json: String {
        guard !budget.isSpent else { return "" }
        let text = JSONText(value)
        budget.spend(text.bytes.count)
        return text.string
    }
}

extension TemplateValue: MustacheParent, MustacheCustomRenderable, MustacheTransformable {
    func child(named name: String) -> Any? {
        var name = name
        var found: JSONValue?
        var looked = 1
        name.withUTF8 { name in
            for (key, member) in value.members {
                looked += 1
                if key.elementsEqual(name) { found = member }
            }
        }
        budget.spend(looked)
        return budget.isSpent ? nil : found.map { Self.context($0, budget) }
    }

    var renderText: String { json }
    var isNull: Bool { false }

    func transform(_ name: String) -> Any? {
        guard value.isObject else { return nil }
        switch name {
        case "count": return value.members.reduce(0) { count, _ in count + 1 }
        case "empty": return value.isEmptyContainer
        default: return nil
        }
    }
}

/// An array, or a part of one.
struct TemplateList: MustacheSequence, MustacheParent, MustacheCustomRenderable, MustacheTransformable {
    let elements: [JSONValue]
    let whole: TemplateValue

    struct Iterator: IteratorProtocol {
        var elements: IndexingIterator<[JSONValue]>
        let budget: TemplateBudget

        mutating func next() -> Any? {
            budget.spend(budget.element)
            guard !budget.isSpent, let element = elements.next() else { return nil }
            return TemplateValue.context(element, budget)
        }
    }

    func makeIterator() -> Iterator { Iterator(elements: elements.makeIterator(), budget: whole.budget) }

    func child(named name: String) -> Any? { nil }
    var renderText: String { whole.renderText }
    var isNull: Bool { false }

    func transform(_ name: String) -> Any? {
        switch name {
        case "count": elements.count
        case "empty": elements.isEmpty
        case "first": elements.first.map { TemplateValue.context($0, whole.budget) }
        case "last": elements.last.map { TemplateValue.context($0, whole.budget) }
        case "reversed": TemplateList(elements: elements.reversed(), whole: whole)
        default: nil
        }
    }
}
