extension JSONWriter {
    /// A member with a text; nothing when there is none.
    package mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        string(text)
    }

    /// A member with a value that was kept as text; nothing when there is none.
    package mutating func member(_ name: StaticString, _ json: JSONText?) {
        guard let json else { return }
        key(name)
        text(json)
    }
}
