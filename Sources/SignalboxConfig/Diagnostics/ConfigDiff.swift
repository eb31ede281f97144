import SignalboxJSON

/// The difference between two configs, value by value, without secrets. Pure.
package struct ConfigDiff: Sendable, Equatable {
    /// A value that only one of the configs has, or that differs between them.
    package struct Change: Sendable, Equatable {
        /// JSON Pointer to the value in the newer config; of a removed value in the former one. Ends with `…` at the
        /// name of an unknown option.
        package let pointer: String
        /// The value in the former config, as JSON text; nil for an added one. Masked by ``ConfigMask``.
        package let from: String?
        /// The value in the newer config; nil for a removed value.
        package let to: String?
    }

    /// The most changes that are listed.
    package static let mostChanges = 200

    /// In the order of the newer config, then the removed values in the order of the former config.
    package private(set) var changes: [Change] = []
    /// Further changes, which are counted only.
    package private(set) var more = 0

    /// Compares the files of two configs as one. Elements of arrays that have a name are compared by it, so a new route
    /// does not change those after it. A file that is not JSON has no values.
    package init(from former: [ConfigText], to newer: [ConfigText]) {
        let (old, new) = (ConfigValues(former), ConfigValues(newer))
        for value in new.all {
            let other = old.byKey[value.key].map { old.all[$0] }
            if other?.text == value.text { continue }
            add(Change(pointer: value.pointer, from: other?.shown, to: value.shown))
        }
        for value in old.all where new.byKey[value.key] == nil {
            add(Change(pointer: value.pointer, from: value.shown, to: nil))
        }
    }

    /// Counts a change beyond ``mostChanges`` without its values.
    private mutating func add(_ change: Change) {
        if changes.count < Self.mostChanges { changes.append(change) } else { more += 1 }
    }
}

/// The values of a config: everything that is not an object or array with members.
struct ConfigValues {
    /// A string, a number, a boolean, null, or an empty object or array.
    struct Value {
        /// The path. A named element has its name in place of its index. An unnamed element of a top-level array has
        /// the number of its file before its index.
        let key: String
        /// To the value in its file. Masked: ends with `…` at the name of an unknown option.
        let pointer: String
        /// The value as JSON text.
        let text: String
        /// The same without secrets.
        let shown: String
    }

    /// In the order of the files and of the text.
    private(set) var all: [Value] = []
    /// Positions in ``all``. The last one of repeated keys counts.
    private(set) var byKey: [String: Int] = [:]
    /// The most values of all files; a config that was read without errors has fewer.
    private static let most = 200_000

    /// Silently leaves out values beyond ``most``. A file that is not JSON has no values.
    init(_ files: [ConfigText]) {
        for (number, file) in files.enumerated() {
            // Positions of unnamed routes are those of their file.
            _ = JSONParser.read(file.bytes) { read($0, [], key: "", pointer: "", file: number) }
        }
    }

    /// `path`: unescaped tokens. Nesting is limited by the parser. The key of a named element contains the name instead
    /// of the index, so the element may move.
    /// `isSecretURL`: whether the value is a URL that grants access by itself.
    private mutating func read(
        _ value: JSONValue, _ path: [String], key: String, pointer: String, file: Int, isSecretURL: Bool = false
    ) {
        guard all.count < Self.most else { return }
        if value.isObject, !value.isEmptyContainer {
            let hasSecretURL = path.count == 2 && path[0] == "destinations" && ConfigMask.hasSecretURL(value)
            for (name, member) in value.members {
                let name = String(decoding: name, as: UTF8.self)
                let token = "/" + JSONPointer.escape(name)
                read(
                    member, path + [name], key: key + token, pointer: pointer + token, file: file,
                    isSecretURL: hasSecretURL && name == "url")
            }
        } else if value.isArray, !value.isEmptyContainer {
            for (index, element) in value.elements.enumerated() {
                let name = element.isObject ? element["name"]?.string : nil
                // Only top-level arrays are spread over several files. In other arrays, the number of the file would
                // change the keys whenever a file is added before it.
                let position = path.count == 1 ? "\(file).\(index)" : "\(index)"
                let token = "/" + (name.map { "=" + JSONPointer.escape($0) } ?? position)
                read(element, path + [String(index)], key: key + token, pointer: pointer + "/\(index)", file: file)
            }
        } else if !path.isEmpty {
            let text = JSONText(value).string
            byKey[key] = all.count
            all.append(
                Value(
                    key: key, pointer: ConfigMask.pointer(path), text: text,
                    shown: ConfigMask.text(of: value, text, at: path, isSecretURL: isSecretURL)))
        }
    }
}
