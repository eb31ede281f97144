import SignalboxJSON

/// The config's rules for actions: the app's own types, and the allowed schemes of links.
package struct ActionTypes: Sendable, Equatable {
    /// By the vendor's word for the type, compared exactly.
    package var custom: [String: CustomType] = [:]
    /// The allowed URI schemes of links, in lower case. Nil allows every scheme except `javascript`, `vbscript`,
    /// `data` and `file`, which run or show their own text or a file of the device.
    package var schemes: Set<String>?

    /// No types of the app, and every scheme except the unsafe ones.
    package init() {}

    /// A type that the app handles itself, like one registered with MCE's `MCEActionRegistry`.
    package struct CustomType: Sendable, Equatable {
        /// The required form of the action's arguments; nil for any.
        package var arguments: ArgumentSchema?
        /// The options that a button of this type must have.
        package var requiredOptions: Category.Options = []
        /// Destinations of taps on such an action, in addition to those of the routes.
        package var destinations: [DestinationName] = []

        /// Any arguments, no required options, no further destinations.
        package init() {}
    }

    /// The app's type for the action's word; nil if the config does not name it.
    package func custom(_ action: Action) -> CustomType? {
        guard !custom.isEmpty, let word = action.vendorType else { return nil }
        return custom[word]
    }

    /// The problems of an action. `options`: those of its button; nil for a tap on the notification itself.
    ///
    /// The app handles the types that the config names, as MCE's SDK lets a registered type replace a built-in type.
    /// The gateway does not check their numbers, minutes and dates, but it checks their links.
    package func problems(with action: Action, options: Category.Options?) -> [ActionProblem] {
        var problems: [ActionProblem] = []
        let custom = custom(action)
        switch action.type {
        case .openUrl, .deepLink: checkLink(action, isSecure: false, &problems)
        case .passbook, .webView: checkLink(action, isSecure: true, &problems)
        case .dial: if custom == nil { checkNumber(action, &problems) }
        case .snooze: if custom == nil { checkMinutes(action, &problems) }
        case .calendar: if custom == nil { checkCalendar(action, &problems) }
        case .openApp, .showActions, .richContent, .dismiss, .reply, .custom: break
        }
        guard let custom else { return problems }
        if let schema = custom.arguments { problems += schema.problems(with: action) }
        if let options, case let missing = custom.requiredOptions.subtracting(options).names, !missing.isEmpty {
            problems.append(
                ActionProblem(
                    .optionMissing, at: "/options",
                    "The config requires buttons of this type to have: \(missing.joined(separator: ", "))."))
        }
        return problems
    }

    /// Records a missing value, a syntax error, a scheme other than https (`isSecure`) or a scheme that is not allowed.
    private func checkLink(_ action: Action, isSecure: Bool, _ problems: inout [ActionProblem]) {
        guard var value = action.value, !value.isEmpty else {
            problems.append(ActionProblem(.valueMissing, "This type of action needs an address to open."))
            return
        }
        let link: Result<LinkSyntax, LinkSyntax.Mistake> = value.withUTF8 { bytes in
            Result { () throws(LinkSyntax.Mistake) in try LinkSyntax(bytes) }
        }
        switch link {
        // Some vendors' deep links are not URIs: Synerise's may be keys that the app knows.
        case .failure(.noScheme) where action.type == .deepLink && !value.utf8.contains(UInt8(ascii: ":")): break
        case .failure(let mistake): problems.append(ActionProblem(.uriInvalid, at: "/value", mistake.message))
        case .success(let link) where isSecure && link.scheme != .https:
            problems.append(ActionProblem(.notHTTPS, at: "/value", "This type of action opens https addresses only."))
        case .success(let link):
            let isAllowed = schemes.map { $0.contains(link.schemeText(of: value)) } ?? (link.scheme != .unsafe)
            guard !isAllowed else { return }
            problems.append(
                ActionProblem(
                    .schemeNotAllowed, at: "/value",
                    "The scheme \"\(link.schemeText(of: value))\" is not allowed; see actions.schemes in the config."
                ))
        }
    }

    /// Records a missing value, or one that is not a telephone number.
    private func checkNumber(_ action: Action, _ problems: inout [ActionProblem]) {
        guard let value = action.value, !value.isEmpty else {
            problems.append(ActionProblem(.valueMissing, "This type of action needs a number to dial."))
            return
        }
        do throws(PhoneNumber.Mistake) {
            try PhoneNumber.check(value)
        } catch { problems.append(ActionProblem(.phoneInvalid, at: "/value", error.message)) }
    }

    /// Records minutes that are missing or out of range.
    private func checkMinutes(_ action: Action, _ problems: inout [ActionProblem]) {
        guard action.snoozeMinutes == nil else { return }
        problems.append(
            ActionProblem(
                .snoozeInvalid, at: action.value == nil ? "" : "/value",
                "A snooze needs a whole number of minutes from 1 to \(Action.longestSnooze)."))
    }

    /// Records the mistakes of the calendar event.
    private func checkCalendar(_ action: Action, _ problems: inout [ActionProblem]) {
        do throws(ActionProblem) {
            problems += try CalendarEvent(action).problems
        } catch { problems.append(error) }
    }
}

extension Action {
    /// In minutes: a week.
    static let longestSnooze = 10_080

    /// The delay of a snooze, 1 to ``longestSnooze`` minutes; nil if it is missing or invalid. Read from `value` or,
    /// as on Android, from `time` in the arguments: decimal digits, optionally followed by `.0`.
    package var snoozeMinutes: Int? {
        let text =
            value
            ?? arguments.flatMap { arguments in
                arguments.withValue { $0["time"]?.scalarText }
            }
        guard let text else { return nil }
        let digits = text.hasSuffix(".0") ? text.dropLast(2) : text[...]
        guard digits.utf8.allSatisfy(\.isDigit), let minutes = Int(digits),
            (1...Self.longestSnooze).contains(minutes)
        else { return nil }
        return minutes
    }
}
