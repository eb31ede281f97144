/// A text that is compared and ordered by its bytes in UTF-8, as in a database.
///
/// A `String` is compared by its characters: "é" as one scalar equals "é" as two. The rows of the two differ.
@usableFromInline package struct ExactText: Sendable, Hashable, Comparable {
    /// The text as it was given.
    @usableFromInline package let text: String

    /// Takes the text unchanged.
    @usableFromInline package init(_ text: String) { self.text = text }

    @usableFromInline package static func == (first: Self, second: Self) -> Bool {
        var (first, second) = (first.text, second.text)
        return first.withUTF8 { first in second.withUTF8 { first.elementsEqual($0) } }
    }

    @usableFromInline package static func < (first: Self, second: Self) -> Bool {
        first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
    }

    @usableFromInline package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // Between the members of a key: no byte of UTF-8.
        hasher.combine(0xff as UInt8)
    }
}

/// Texts that all differ in their bytes; see ``ExactText``.
package struct ExactTextSet: Sendable, Equatable, Sequence, ExpressibleByArrayLiteral {
    private var texts: Set<ExactText> = []

    /// Takes each text once.
    package init(_ texts: some Sequence<String>) { self.texts = Set(texts.map(ExactText.init)) }

    package init(arrayLiteral texts: String...) { self.init(texts) }

    package var isEmpty: Bool { texts.isEmpty }

    /// In any order.
    package func makeIterator() -> some IteratorProtocol<String> { texts.lazy.map(\.text).makeIterator() }

    /// In the order of their bytes.
    package func inOrder() -> [String] { texts.sorted().map(\.text) }

    package func contains(_ text: String) -> Bool { texts.contains(ExactText(text)) }

    /// Without effect for a text that is not in the set.
    package mutating func remove(_ text: String) { texts.remove(ExactText(text)) }

    /// Returns whether the text is new.
    @discardableResult
    package mutating func insert(_ text: String) -> Bool { texts.insert(ExactText(text)).inserted }

    package mutating func formUnion(_ other: some Sequence<String>) { for text in other { insert(text) } }

    /// With the texts of another sequence.
    package func union(_ other: some Sequence<String>) -> Self {
        var all = self
        all.formUnion(other)
        return all
    }
}

/// Values by texts that are compared by their bytes; see ``ExactText``. In the path of every decision about in-app
/// messages: other targets specialise its reads and writes.
@usableFromInline package struct ExactTextMap<Value> {
    @usableFromInline var entries: [ExactText: Value] = [:]

    /// Empty.
    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { entries.isEmpty }

    package var count: Int { entries.count }

    @inlinable package var values: some Collection<Value> { entries.values }

    /// In the order of the keys' bytes.
    @inlinable package func inOrder() -> [(key: String, value: Value)] {
        entries.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }

    /// Whether the key has a value.
    @inlinable package func contains(_ key: String) -> Bool { entries.index(forKey: ExactText(key)) != nil }

    @inlinable package subscript(key: String) -> Value? {
        get { entries[ExactText(key)] }
        _modify { yield &entries[ExactText(key)] }
    }

    @inlinable package subscript(key: String, default value: @autoclosure () -> Value) -> Value {
        get { entries[ExactText(key), default: value()] }
        _modify { yield &entries[ExactText(key), default: value()] }
    }

    /// Returns the removed value; nil for none.
    @inlinable package mutating func removeValue(forKey key: String) -> Value? {
        entries.removeValue(forKey: ExactText(key))
    }

    package mutating func removeAll() { entries.removeAll() }

    /// The same keys with other values.
    package func mapValues<Other>(_ change: (Value) throws -> Other) rethrows -> ExactTextMap<Other> {
        var map = ExactTextMap<Other>()
        map.entries = try entries.mapValues(change)
        return map
    }

    /// The keys whose other values are not nil.
    package func compactMapValues<Other>(_ change: (Value) throws -> Other?) rethrows -> ExactTextMap<Other> {
        var map = ExactTextMap<Other>()
        map.entries = try entries.compactMapValues(change)
        return map
    }

    /// Values of `other` replace those with the same key.
    package mutating func merge(_ other: Self) { entries.merge(other.entries) { $1 } }
}

extension ExactTextMap: Sendable where Value: Sendable {}
extension ExactTextMap: Equatable where Value: Equatable {}

extension ExactTextMap: ExpressibleByDictionaryLiteral {
    /// The last value of a repeated key counts.
    @usableFromInline package init(dictionaryLiteral pairs: (String, Value)...) {
        self.init()
        for (key, value) in pairs { self[key] = value }
    }
}
