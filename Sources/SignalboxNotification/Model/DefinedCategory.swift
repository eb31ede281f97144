/// A category that a payload defines, on its way to the registry. What it is made of is written down only where the
/// registry does not know it yet: nearly every event has one that it does.
package struct DefinedCategory: Sendable {
    package let identifier: String
    /// True where the identifier is made of the definition, so that this cannot have changed under it.
    package let isNamedByDefinition: Bool
    private let make: @Sendable () -> CategoryRecord?

    /// `make`: nil for a definition that may not be kept.
    package init(
        _ identifier: String, isNamedByDefinition: Bool, make: @escaping @Sendable () -> CategoryRecord?
    ) {
        self.identifier = identifier
        self.isNamedByDefinition = isNamedByDefinition
        self.make = make
    }

    /// As the registry keeps it; nil where it may not be kept. Made anew each time.
    package var record: CategoryRecord? { make() }
}
