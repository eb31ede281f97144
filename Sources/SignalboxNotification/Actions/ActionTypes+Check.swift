extension ActionTypes {
    /// What is wrong with an action. `options` are those of its button; nil for what a tap on the notification itself
    /// does.
    ///
    /// A type that the config names is handled by the app, as one that is registered over a built-in type of MCE's: what
    /// the gateway asks of a number, of minutes or of a date does not hold for it. What links may lead to does.
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
        if let options { Self.checkOptions(options, of: custom, &problems) }
        return problems
    }

    private func checkLink(_ action: Action, isSecure: Bool, _ problems: inout [ActionProblem]) {
        guard var value = action.value, !value.isEmpty else {
            problems.append(ActionProblem(.valueMissing, "This type of action needs an address to open."))
            return
        }
        let link: Result<LinkSyntax, LinkSyntax.Mistake> = value.withUTF8 { bytes in
            Result { () throws(LinkSyntax.Mistake) in try LinkSyntax(bytes) }
        }
        switch link {
        // Not every vendor's deep links are addresses: Synerise's may be keys that the app knows.
        case .failure(.noScheme) where action.type == .deepLink && !value.utf8.contains(UInt8(ascii: ":")): break
        case .failure(let mistake): problems.append(ActionProblem(.uriInvalid, at: "/value", mistake.message))
        case .success(let link):
            if isSecure, link.scheme != .https {
                problems.append(
                    ActionProblem(.notHTTPS, at: "/value", "This type of action opens https addresses only."))
            } else if !allows(link, value) {
                let scheme = link.schemeText(of: value)
                problems.append(
                    ActionProblem(
                        .schemeNotAllowed, at: "/value",
                        "Links of the scheme \"\(scheme)\" are allowed only where actions.schemes in the config names it."
                    ))
            }
        }
    }

    private func allows(_ link: LinkSyntax, _ value: String) -> Bool {
        guard let schemes else { return link.scheme != .unsafe }
        return schemes.contains(link.schemeText(of: value))
    }

    private func checkNumber(_ action: Action, _ problems: inout [ActionProblem]) {
        guard let value = action.value, !value.isEmpty else {
            problems.append(ActionProblem(.valueMissing, "This type of action needs a number to dial."))
            return
        }
        do throws(PhoneNumber.Mistake) {
            try PhoneNumber.check(value)
        } catch {
            problems.append(ActionProblem(.phoneInvalid, at: "/value", error.message))
        }
    }

    private func checkMinutes(_ action: Action, _ problems: inout [ActionProblem]) {
        guard action.snoozeMinutes == nil else { return }
        problems.append(
            ActionProblem(
                .snoozeInvalid, at: action.value == nil ? "" : "/value",
                "A snooze needs a whole number of minutes from 1 to \(Action.longestSnooze)."))
    }

    private func checkCalendar(_ action: Action, _ problems: inout [ActionProblem]) {
        do throws(ActionProblem) {
            problems += try CalendarEvent(action).problems
        } catch {
            problems.append(error)
        }
    }

    private static func checkOptions(
        _ options: Category.Options, of type: CustomType, _ problems: inout [ActionProblem]
    ) {
        let missing = type.requiredOptions.subtracting(options).names
        guard !missing.isEmpty else { return }
        problems.append(
            ActionProblem(
                .optionMissing, at: "/options",
                "The config wants buttons of this type to have: \(missing.joined(separator: ", "))."))
    }
}
