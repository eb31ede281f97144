/// What the config says of actions: the types that the app adds to the built-in ones, and what links may lead to.
package struct ActionTypes: Sendable, Equatable {
    /// By the vendor's word for the type, compared exactly.
    package var custom: [String: CustomType] = [:]
    /// URI schemes that links may have, in lower case; nil for any but those that run or show their own text or a file
    /// of the device: `javascript`, `vbscript`, `data`, `file`.
    package var schemes: Set<String>?

    package init() {}

    /// A type that the app handles itself, as one registered with MCE's `MCEActionRegistry`.
    package struct CustomType: Sendable, Equatable {
        /// What the action's arguments have to be.
        package var arguments: ArgumentSchema?
        /// Options that a button of this type has to have.
        package var requiredOptions: Category.Options = []
        /// Where taps on such an action go, beside where the routes send them.
        package var destinations: [DestinationName] = []

        package init() {}
    }

    /// The type that an action has by the vendor's word for it; nil for one that the config does not name.
    package func custom(_ action: Action) -> CustomType? {
        guard !custom.isEmpty, let word = action.vendorType else { return nil }
        return custom[word]
    }
}
