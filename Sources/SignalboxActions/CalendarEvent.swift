import SignalboxModel

/// An event for a calendar, as an action's arguments describe it.
struct CalendarEvent {
    /// What is wrong and did not keep it from being read.
    var problems: [ActionProblem] = []

    init(_ action: Action) throws(ActionProblem) {}
}
