import SignalboxNotification

extension PushNotification {
    /// Adds a warning for each problem of the notification's action and of its buttons' actions, unless the vendor's
    /// reader has reported it. Paths point into the event's `data`: an action may be read from several positions of a
    /// payload. Stops at ``mostWarnings`` warnings in all.
    mutating func checkActions(with types: ActionTypes) {
        if let action { warn(of: types.problems(with: action, options: nil), with: action, at: "/action") }
        guard let category else { return }
        // By position: a loop over the values copies each.
        for position in category.actions.indices {
            let problems = types.problems(
                with: category.actions[position].action, options: category.actions[position].options)
            guard !problems.isEmpty else { continue }
            warn(of: problems, with: category.actions[position].action, at: "/category/actions/\(position)")
        }
    }

    /// `place`: the JSON Pointer of the action in the event's `data`.
    private mutating func warn(of problems: [ActionProblem], with action: Action, at place: String) {
        for problem in problems where warnings.count < Self.mostWarnings && !isReported(problem, of: action) {
            warnings.append(Warning(problem.code.rawValue, at: place + problem.path, problem.message))
        }
    }

    /// MCE's reader has rules of its own that report the same problems. True if the reader's own warning names the
    /// same mistake, so that it is reported once.
    private func isReported(_ problem: ActionProblem, of action: Action) -> Bool {
        let code: String
        switch problem.code {
        case .valueMissing: code = "mce.action-value-missing"
        case .notHTTPS: code = "mce.value-not-https"
        case .snoozeInvalid where action.value.flatMap({ Double($0) }) == nil: code = "mce.snooze-not-a-number"
        default: return false
        }
        return warnings.contains { $0.code == code }
    }
}
