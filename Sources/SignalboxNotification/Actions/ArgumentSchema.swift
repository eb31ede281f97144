/// What the arguments of an action have to be: a part of JSON Schema, which says of a value its type, and by the type
/// what it may be.
package struct ArgumentSchema: Sendable, Equatable {
    /// JSON Schema's words for types.
    package enum Kind: String, Sendable, CaseIterable {
        case object, string, number, integer, boolean, array
    }

    package var kind: Kind
    /// Of an object: schemas of its members. Others may be there too.
    package var properties: [String: ArgumentSchema] = [:]
    /// Of an object: members that have to be there.
    package var required: [String] = []
    /// Of an array: the schema of each element; one or none.
    package var items: [ArgumentSchema] = []
    /// Of a string, number, integer or boolean: what it may be, as text; nil for anything.
    package var allowed: [String]?
    /// Of a number or integer.
    package var minimum: Double?
    /// Of a number or integer.
    package var maximum: Double?
    /// Of a string, in Unicode scalars, as JSON Schema counts them.
    package var minLength: Int?
    /// Of a string, in Unicode scalars.
    package var maxLength: Int?

    package init(_ kind: Kind) { self.kind = kind }
}
