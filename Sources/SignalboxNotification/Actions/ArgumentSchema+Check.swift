import SignalboxJSON

extension ArgumentSchema {
    /// What is wrong with what an action is given: its arguments, and its value as if it were one of them.
    ///
    /// Text that spells a number or a boolean is one: MCE's Android SDK makes strings of all arguments.
    func problems(with action: Action) -> [ActionProblem] {
        var problems: [ActionProblem] = []
        let isRead: Void? = action.arguments?.withValue { arguments in
            check(arguments, value: action.value, at: "/arguments", &problems)
        }
        if isRead == nil { checkMembers(of: nil, value: action.value, at: "/arguments", &problems) }
        return problems
    }

    private func check(_ given: JSONValue, value: String?, at place: String, _ problems: inout [ActionProblem]) {
        switch kind {
        case .object:
            guard given.isObject else { return problems.append(wrongType(at: place)) }
            checkMembers(of: given, value: value, at: place, &problems)
        case .array:
            guard given.isArray else { return problems.append(wrongType(at: place)) }
            guard let schema = items.first else { return }
            // A list is of any length; what is wrong with its first elements says enough.
            for (position, element) in given.elements.prefix(100).enumerated() {
                schema.check(element, value: nil, at: "\(place)/\(position)", &problems)
            }
        case .string:
            guard let text = given.string ?? given.spelled else { return problems.append(wrongType(at: place)) }
            checkText(text, at: place, &problems)
        case .number, .integer, .boolean:
            guard let text = given.spelled else { return problems.append(wrongType(at: place)) }
            checkText(text, at: place, &problems)
        }
    }

    private func checkMembers(
        of object: JSONValue?, value: String?, at place: String, _ problems: inout [ActionProblem]
    ) {
        for name in properties.keys.sorted() {
            guard let schema = properties[name] else { continue }
            if let member = object?.member(name) {
                if member.isNull { continue }
                schema.check(member, value: nil, at: place + "/" + JSONPointer.escape(name), &problems)
            } else if name == "value", let value {
                schema.checkText(value, at: "/value", &problems)
            }
        }
        for name in required where object?.member(name)?.isNull ?? true {
            if name == "value", value != nil { continue }
            problems.append(ActionProblem(.argumentMissing, at: place, "The argument \"\(name)\" is missing."))
        }
    }

    /// A scalar by its text.
    private func checkText(_ text: String, at place: String, _ problems: inout [ActionProblem]) {
        switch kind {
        case .object, .array: return problems.append(wrongType(at: place))
        case .string: checkLength(of: text, at: place, &problems)
        case .boolean: if text != "true", text != "false" { return problems.append(wrongType(at: place)) }
        case .number, .integer:
            guard let number = Double(text), number.isFinite, kind == .number || number == number.rounded() else {
                return problems.append(wrongType(at: place))
            }
            checkRange(of: number, at: place, &problems)
        }
        guard let allowed, !allowed.contains(text) else { return }
        problems.append(
            ActionProblem(
                .argumentNotAllowed, at: place, "This argument is one of: \(allowed.joined(separator: ", "))."))
    }

    private func checkLength(of text: String, at place: String, _ problems: inout [ActionProblem]) {
        guard minLength != nil || maxLength != nil else { return }
        let length = text.unicodeScalars.count
        if let minLength, length < minLength {
            problems.append(outOfRange(at: place, "This argument has at least \(minLength) characters."))
        } else if let maxLength, length > maxLength {
            problems.append(outOfRange(at: place, "This argument has at most \(maxLength) characters."))
        }
    }

    private func checkRange(of number: Double, at place: String, _ problems: inout [ActionProblem]) {
        if let minimum, number < minimum {
            problems.append(outOfRange(at: place, "This argument is at least \(minimum.shortText)."))
        } else if let maximum, number > maximum {
            problems.append(outOfRange(at: place, "This argument is at most \(maximum.shortText)."))
        }
    }

    private func wrongType(at place: String) -> ActionProblem {
        ActionProblem(.argumentWrongType, at: place, "This argument is of the type \(kind.rawValue).")
    }

    private func outOfRange(at place: String, _ message: String) -> ActionProblem {
        ActionProblem(.argumentOutOfRange, at: place, message)
    }
}

extension Double {
    /// Whole numbers without a fraction.
    fileprivate var shortText: String { Int64(exactly: self).map { String($0) } ?? description }
}
