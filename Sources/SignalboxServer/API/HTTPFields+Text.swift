import HTTPTypes

/// Fields that HTTPTypes has no constant for.
extension HTTPFields {
    /// The field with this name. Names are constants of HTTP. Traps for a name that HTTP does not allow. Several
    /// fields with this name are joined with a comma. Setting nil removes them.
    subscript(text name: String) -> String? {
        get { self[Self.name(name)] }
        set { self[Self.name(name)] = newValue }
    }

    /// Names are compared without case, as HTTP does.
    private static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is not a header name.") }
        return name
    }
}
