import SignalboxJSON
import SignalboxModel

extension ArgumentSchema {
    /// What is wrong with what an action is given: its arguments, and its value as if it were one of them.
    func problems(with action: Action) -> [ActionProblem] { [] }
}
