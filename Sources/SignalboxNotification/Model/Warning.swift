/// Something that a payload gets wrong and that could be read all the same.
package struct Warning: Sendable, Equatable {
    /// Stable, `component.what-is-wrong`.
    package let code: String
    /// JSON Pointer into the payload.
    package let path: String
    /// One sentence for a person.
    package let message: String

    package init(_ code: String, at path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }
}
