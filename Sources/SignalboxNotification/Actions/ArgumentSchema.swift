import SignalboxJSON

/// The required form of an action's arguments: the part of JSON Schema that restricts types, ranges and lengths. The
/// config may declare one for each type of action that the app defines.
package struct ArgumentSchema: Sendable, Equatable {
    /// JSON Schema's words for types.
    package enum Kind: String, Sendable, CaseIterable {
        case object, string, number, integer, boolean, array
    }

    /// The required type of the value.
    package var kind: Kind
    /// For an object: schemas of its members. Other members are allowed.
    package var properties: [String: ArgumentSchema] = [:]
    /// For an object: the required members.
    package var required: [String] = []
    /// For an array: the schema of each element; one or none.
    package var items: [ArgumentSchema] = []
    /// For a string, number, integer or boolean: the allowed values as text; nil for any.
    package var allowed: [String]?
    /// For a number or integer.
    package var minimum: Double?
    /// For a number or integer.
    package var maximum: Double?
    /// For a string, in Unicode scalars, as JSON Schema counts them.
    package var minLength: Int?
    /// For a string, in Unicode scalars.
    package var maxLength: Int?

    /// A schema without further restrictions.
    package init(_ kind: Kind) { self.kind = kind }

    /// The problems of an action's arguments. The action's value counts as an argument `value`.
    ///
    /// A string with the text of a number or boolean is accepted as that value: MCE's Android SDK converts all
    /// arguments to strings.
    func problems(with action: Action) -> [ActionProblem] {
        var problems: [ActionProblem] = []
        let isRead: Void? = action.arguments?.withValue { arguments in
            check(arguments, value: action.value, at: "/arguments", &problems)
        }
        if isRead == nil { checkMembers(of: nil, value: action.value, at: "/arguments", &problems) }
        return problems
    }

    /// Checks one value. `value`: the action's value, at the top level only. `path`: JSON Pointer from the action.
    private func check(_ given: JSONValue, value: String?, at path: String, _ problems: inout [ActionProblem]) {
        switch kind {
        case .object:
            guard given.isObject else { return problems.append(wrongType(at: path)) }
            checkMembers(of: given, value: value, at: path, &problems)
        case .array:
            guard given.isArray else { return problems.append(wrongType(at: path)) }
            guard let schema = items.first else { return }
            // The length of a list is unlimited; the mistakes of its first elements suffice.
            for (position, element) in given.elements.prefix(100).enumerated() {
                schema.check(element, value: nil, at: "\(path)/\(position)", &problems)
            }
        case .string, .number, .integer, .boolean:
            let text = kind == .string ? given.string ?? given.scalarText : given.scalarText
            guard let text else { return problems.append(wrongType(at: path)) }
            checkText(text, at: path, &problems)
        }
    }

    /// Checks the members of an object; nil for an action without arguments.
    private func checkMembers(
        of object: JSONValue?, value: String?, at path: String, _ problems: inout [ActionProblem]
    ) {
        for name in properties.keys.sorted() {
            guard let schema = properties[name] else { continue }
            if let member = object?.member(name) {
                if member.isNull { continue }
                schema.check(member, value: nil, at: path + "/" + JSONPointer.escape(name), &problems)
            } else if name == "value", let value {
                schema.checkText(value, at: "/value", &problems)
            }
        }
        for name in required where object?.member(name)?.isNull ?? true {
            if name == "value", value != nil { continue }
            problems.append(ActionProblem(.argumentMissing, at: path, "The argument \"\(name)\" is missing."))
        }
    }

    /// Checks a string, number or boolean by its text.
    private func checkText(_ text: String, at path: String, _ problems: inout [ActionProblem]) {
        switch kind {
        case .object, .array: return problems.append(wrongType(at: path))
        case .string:
            guard minLength != nil || maxLength != nil else { break }
            let length = text.unicodeScalars.count
            if let minLength, length < minLength {
                problems.append(outOfRange(at: path, "at least \(minLength) characters"))
            } else if let maxLength, length > maxLength {
                problems.append(outOfRange(at: path, "at most \(maxLength) characters"))
            }
        case .boolean: if text != "true", text != "false" { return problems.append(wrongType(at: path)) }
        case .number, .integer:
            guard let number = Double(decimal: text), number.isFinite, kind == .number || number == number.rounded()
            else {
                return problems.append(wrongType(at: path))
            }
            if let minimum, number < minimum {
                problems.append(outOfRange(at: path, "a value of at least \(minimum.shortText)"))
            } else if let maximum, number > maximum {
                problems.append(outOfRange(at: path, "a value of at most \(maximum.shortText)"))
            }
        }
        guard let allowed, !allowed.contains(text) else { return }
        problems.append(
            ActionProblem(
                .argumentNotAllowed, at: path, "The argument is not one of: \(allowed.joined(separator: ", "))."))
    }

    /// The problem of a value whose type is not ``kind``.
    private func wrongType(at path: String) -> ActionProblem {
        ActionProblem(.argumentWrongType, at: path, "The argument is not of the type \(kind.rawValue).")
    }

    /// The problem of a number or length. `range`: completes "The argument must have".
    private func outOfRange(at path: String, _ range: String) -> ActionProblem {
        ActionProblem(.argumentOutOfRange, at: path, "The argument must have \(range).")
    }
}

extension Double {
    /// Whole numbers without a fraction.
    fileprivate var shortText: String { Int64(exactly: self).map { String($0) } ?? description }
}
