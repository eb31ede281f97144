import SignalboxJSON

/// The buttons of a category as bytes that are equal only for equal buttons, without the category's name and vendor.
///
/// A JSON array with an array for each button, in their order. It contains identifier, title, type, the vendor's word
/// if the type is `custom`, value, arguments, options and the two texts of a text input. Keys of arguments and names
/// of options are sorted; a missing value is null. The vendor's word for a built-in type is left out, so that equal
/// buttons of different vendors are equal.
struct CategoryDefinition {
    /// JSON, UTF-8.
    let bytes: [UInt8]

    /// Writes the buttons once. Linear in their size, except for the sorting of keys.
    init(_ category: Category) {
        bytes = .json(capacity: 512) { json in
            json.array(of: category.actions.indices) { $0.definition(category.actions[$1]) }
        }
    }
}

extension JSONWriter {
    /// Writes one button. The form determines the names that apps register: a change renames every category.
    fileprivate mutating func definition(_ button: Category.Button) {
        beginArray()
        string(button.identifier)
        stringOrNull(button.title)
        string(button.action.type.rawValue)
        stringOrNull(button.action.type == .custom ? button.action.vendorType : nil)
        stringOrNull(button.action.value)
        if let arguments = button.action.arguments { sorted(arguments) } else { null() }
        beginArray()
        for (name, option) in Category.Options.named where button.options.contains(option) { string(name) }
        endArray()
        if let input = button.textInput {
            beginArray()
            stringOrNull(input.buttonTitle)
            stringOrNull(input.placeholder)
            endArray()
        } else {
            null()
        }
        endArray()
    }

    /// Null instead of a missing member, so that positions keep their meaning.
    private mutating func stringOrNull(_ text: String?) {
        if let text { string(text) } else { null() }
    }

    /// Writes arguments with the keys of every object in order.
    private mutating func sorted(_ text: JSONText) {
        let isRead: Void? = text.withValue { sorted($0) }
        // Too large or nested too deep for a parser: the vendor's order of keys.
        if isRead == nil { self.text(text) }
    }

    /// Writes a value with the keys of every object in order.
    private mutating func sorted(_ value: JSONValue) {
        if value.isObject {
            var members: [(key: UnsafeBufferPointer<UInt8>, value: JSONValue)] = []
            value.forEachMember { members.append(($0, $1)) }
            beginObject()
            for (key, member) in members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                self.key(utf8: key)
                sorted(member)
            }
            endObject()
        } else if value.isArray {
            array(of: value.elements) { $0.sorted($1) }
        } else {
            self.value(value)
        }
    }
}
