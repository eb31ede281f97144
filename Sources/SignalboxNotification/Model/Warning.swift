/// A mistake of a payload that did not prevent reading it. Events contain warnings in the order in which readers found
/// them. ``WarningDescription`` lists the codes.
package struct Warning: Sendable, Equatable {
    /// Stable: `component.mistake`.
    package let code: String
    /// JSON Pointer into the payload, or into the event's data for checks that run after the vendor's reader.
    package let path: String
    /// One sentence for people; its wording may change.
    package let message: String

    /// `path`: a JSON Pointer; empty for the whole payload.
    package init(_ code: String, at path: String, _ message: String) {
        (self.code, self.path, self.message) = (code, path, message)
    }
}

extension Array {
    /// Appends a warning or mistake unless the list is full. Evaluates it only when there is space: pointers are
    /// expensive to find, and an input full of mistakes must not cost more than one with a few.
    mutating func append(_ element: @autoclosure () -> Element, upTo limit: Int) {
        if count < limit { append(element()) }
    }
}

extension PushNotification {
    /// The most warnings of a notification; further ones are dropped.
    package static let mostWarnings = 100

    /// Records a mistake at a JSON Pointer, at most ``mostWarnings`` of them.
    package mutating func warn(_ code: String, at path: @autoclosure () -> String, _ message: String) {
        warnings.append(Warning(code, at: path(), message), upTo: Self.mostWarnings)
    }
}
