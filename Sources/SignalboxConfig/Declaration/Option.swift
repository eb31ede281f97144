import SignalboxJSON

/// The description of one option, for the schema and the reference page. Not generic, so options of all sections fit
/// into one table. Made once from the declaration; the reader of a config does not use it.
struct OptionInfo: Sendable {
    /// The name of the member. Case matters. Keys of one section are different.
    let key: String
    /// Kind, limits and schema of its values.
    let type: TypeInfo
    /// True if its section is invalid without it.
    let isRequired: Bool
    /// One or two sentences in Markdown without links. Ends with a full stop, which ``schema`` replaces when it adds
    /// the limits.
    let documentation: String
    /// Nil for an option that is required, without a value by default, or whose default the documentation describes.
    var defaultValue: JSONNode?
    /// True if files in `routes.d` may have it too.
    var isInParts = false

    /// With description and default. The description is plain text: backquotes are left out.
    var schema: JSONNode {
        let text = type.limits.isEmpty ? documentation : "\(documentation.dropLast()) (\(type.limits))."
        let described: JSONNode = ["description": .string(text.replacing("`", with: ""))]
        let full = described.adding(type.schema)
        return defaultValue.map { full.adding(["default": $0]) } ?? full
    }
}

/// One option of a section: its key, its type and its meaning. Reading, schema and reference derive from it. An
/// immutable declaration, made once and used for every config.
struct Option<Root: Sendable>: Sendable {
    /// Never throws: mistakes go to the reader, and the root keeps its value. Called only if the config has the
    /// option.
    typealias Reading = @Sendable (_ value: JSONValue, _ root: inout Root, _ reader: inout ConfigReader) -> Void

    /// The description, without the property.
    private(set) var info: OptionInfo
    /// The error if the option is missing; nil if it may be.
    let missing: String?
    /// Whether its value has a secret; see ``OptionType/hasSecret``.
    let hasSecret: Bool
    /// Reads a value and sets the property; records errors. The reader calls it once for each file that has the
    /// option.
    private(set) var read: Reading
    /// The default as JSON, taken from a section with its defaults; nil if the reference does not show one.
    private var defaultValue: @Sendable (Root) -> JSONNode? = { _ in nil }

    /// `required`: the error if the option is missing. `adding`: combines the values of several files; without it, only
    /// the main file (`routes.json`) may have the option.
    init<Value>(
        _ key: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ type: OptionType<Value>,
        required missing: String? = nil, adding: (@Sendable (inout Value, Value) -> Void)? = nil,
        _ documentation: String
    ) {
        self.init(key, type, missing, documentation) { value, root, reader in
            guard let value = type.read(value, &reader) else { return }
            if let adding { adding(&root[keyPath: path], value) } else { root[keyPath: path] = value }
        }
        info.isInParts = adding != nil
        defaultValue = { type.write($0[keyPath: path]) }
    }

    /// An option without a default. An invalid value leaves the property nil, and is recorded.
    init<Value>(
        _ key: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, _ type: OptionType<Value>,
        required missing: String? = nil, _ documentation: String
    ) {
        self.init(key, type, missing, documentation) { value, root, reader in
            root[keyPath: path] = type.read(value, &reader)
        }
    }

    /// An object whose options are properties of the same root. Keys must be different. The group's defaults are
    /// those of the root, and its checks run after the group has been read.
    init(_ key: String, group section: Section<Root>, _ documentation: String) {
        self.init(key, .section(section), nil, documentation) { section.read($0, into: &$1, &$2) }
    }

    /// An option that is accepted and has no effect. Any JSON value is valid. For `$schema` and comments. `inParts`:
    /// whether files in `routes.d` may have it too.
    init(ignoring key: String, inParts: Bool = false, _ documentation: String) {
        self.init(key, OptionType<Bool>(TypeInfo("any", [:])) { _, _ in nil }, nil, documentation) { _, _, _ in }
        info.isInParts = inParts
    }

    /// `missing`: the error for a missing option; nil if it may be missing.
    private init<Value>(
        _ key: String, _ type: OptionType<Value>, _ missing: String?, _ documentation: String, read: @escaping Reading
    ) {
        info = OptionInfo(key: key, type: type.info, isRequired: missing != nil, documentation: documentation)
        self.missing = missing
        hasSecret = type.hasSecret
        self.read = read
    }

    /// The option as a section with these values describes it. `root`: the defaults of the section. The
    /// documentation, the type and the schema do not depend on the root.
    func info(default root: Root) -> OptionInfo {
        var info = info
        if !info.isRequired, let value = defaultValue(root), info.type.permits(value) { info.defaultValue = value }
        return info
    }

    /// The option in a file that must not have it: every value is an error. `problem`: the error, reported on the key.
    func misplaced(_ problem: String) -> Option {
        var option = self
        option.read = { value, _, reader in reader.note(keyOf: value, problem) }
        return option
    }
}

/// Collects the options of a section in the order of the schema and the reference page. A trailing closure lists the
/// options without commas; conditions and loops are not supported.
@resultBuilder
enum OptionBuilder<Root: Sendable> {
    /// Lets an option be written without a wrapper.
    static func buildExpression(_ option: Option<Root>) -> Option<Root> { option }
    /// Keeps the order of the declarations, which is that of the schema and the reference page.
    static func buildBlock(_ options: Option<Root>...) -> [Option<Root>] { options }
}

/// The options of one object. Unknown and repeated keys are errors. Checks run after all options of the section have
/// been read. Safe to share: a section has no state, and reading changes only the root and the reader that are passed
/// in. Options are read in the order of their declaration, not in that of the text.
struct Section<Root: Sendable>: Sendable {
    /// Runs even after errors, so it must expect defaults instead of invalid values. `value`: the object, for the
    /// location of an error.
    typealias Check = @Sendable (_ root: inout Root, _ value: JSONValue, _ reader: inout ConfigReader) -> Void

    /// The value of an object without any option.
    let defaults: Root
    /// In the order of the reference page.
    let options: [Option<Root>]
    /// Members of the schema besides `properties` and `required`.
    private let rules: JSONNode
    /// Known keys, for the check of unknown ones and for suggestions.
    private let keys: [String]
    /// Whether an option has a secret.
    let hasSecret: Bool
    /// Runs once for each object that is read, even if it has mistakes.
    private let check: Check

    /// `rules`: members of the schema that constrain several options. `check`: checks them after they have been read.
    init(
        _ defaults: Root, rules: JSONNode = [:], @OptionBuilder<Root> _ options: () -> [Option<Root>],
        check: @escaping Check = { _, _, _ in }
    ) { self.init(defaults, rules: rules, options: options(), check: check) }

    /// `options`: for sections whose options are computed, such as those of a file in `routes.d`.
    init(_ defaults: Root, rules: JSONNode = [:], options: [Option<Root>], check: @escaping Check = { _, _, _ in }) {
        (self.defaults, self.rules, self.options, self.check) = (defaults, rules, options, check)
        keys = options.map(\.info.key)
        hasSecret = options.contains(where: \.hasSecret)
    }

    /// With the defaults of this section.
    var infos: [OptionInfo] { options.map { $0.info(default: defaults) } }

    /// Permits no other members. `required` and `properties` follow from the options; ``rules`` come between them.
    var schema: JSONNode {
        let infos = infos
        let required = infos.filter(\.isRequired).map(\.key)
        var schema: JSONNode = ["type": "object", "additionalProperties": false]
        if !required.isEmpty { schema = schema.adding(["required": .strings(required)]) }
        let properties = infos.map { JSONNode.Member(key: $0.key, value: $0.schema) }
        return schema.adding(rules).adding(["properties": .object(properties)])
    }

    /// Reads an object; nil for any other value. An invalid option, or a required one that is missing, keeps its
    /// default and is recorded. Members that are valid count even if others are not.
    func read(_ value: JSONValue, _ reader: inout ConfigReader) -> Root? {
        var root = defaults
        return read(value, into: &root, &reader) ? root : nil
    }

    /// Reads into a root that already has values. False for a value that is not an object. If several missing options
    /// have the same error, it is recorded once. A misspelled option does not count as missing.
    @discardableResult
    func read(_ value: JSONValue, into root: inout Root, _ reader: inout ConfigReader) -> Bool {
        guard reader.isObject(value, keys: keys, isOfSecret: hasSecret) else { return false }
        var mistaken = reader.mistaken
        var missing: [String] = []
        for option in options {
            if let member = value.member(option.info.key) {
                let errors = reader.diagnostics.errorCount
                option.read(member, &root, &reader)
                // The root has the default instead.
                if reader.diagnostics.errorCount > errors { mistaken.insert(option.info.key) }
            } else if let problem = option.missing, !mistaken.contains(option.info.key), !missing.contains(problem) {
                missing.append(problem)
                reader.note(value, problem)
            }
        }
        // Objects within this one have set theirs.
        reader.mistaken = mistaken
        check(&root, value, &reader)
        return true
    }
}
