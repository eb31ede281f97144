/// Why a command ended without its result. The executable maps each case to an exit code.
package enum CommandFailure: Error, Sendable, Equatable {
    /// The command cannot start or continue: exit code 2. A sentence with the problem and the remedy; empty if they
    /// have already been printed.
    case refused(String)
    /// The answer is "no", or the command is done in part: exit code 1. Empty if the reason has already been printed.
    case incomplete(String)
    /// ^C, after a clean stop.
    case interrupted
}
