/// The categories that the app compiled in, as the config declares them: payloads only name those, and get their labels
/// from here.
package struct StaticCategories: Sendable, Equatable {
    /// The most buttons that Apple's systems show of one category (developer.apple.com, `UNNotificationCategory`).
    package static let mostActions = 10

    /// By identifier, compared exactly. All of them static, with a title for each button.
    package private(set) var categories: [String: Category] = [:]

    package init() {}

    package var isEmpty: Bool { categories.isEmpty }

    /// The declaration of this name; nil when there is none.
    package subscript(_ identifier: String) -> Category? { categories[identifier] }

    /// Declares a category, in place of an earlier one of the same identifier; one without an identifier is none.
    package mutating func declare(_ category: Category) {
        guard let identifier = category.identifier else { return }
        categories[identifier] = category
    }

    /// What each of them is, in the order of their identifiers.
    package var records: [CategoryRecord] {
        categories.values.compactMap { CategoryRecord($0) }.sorted { $0.identifier < $1.identifier }
    }
}
