/// A category as the registry keeps it and apps fetch it.
package struct CategoryRecord: Sendable, Equatable {
    package let identifier: String
    /// A JSON object: what an app registers with its system.
    package let definition: [UInt8]

    package init(identifier: String, definition: [UInt8]) {
        self.identifier = identifier
        self.definition = definition
    }
}
