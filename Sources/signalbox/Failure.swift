import ArgumentParser
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxServer
import SignalboxStore

/// Exit codes that programs rely on.
extension ExitCode {
    /// Some inputs were rejected or some deliveries failed.
    static let incomplete = ExitCode(1)
    /// The command line, the config or the environment is invalid, or standard output cannot be written.
    static let unusable = ExitCode(2)
    /// The queue cannot be opened for now; a later start may succeed. EX_TEMPFAIL of sysexits.h.
    static let temporary = ExitCode(75)
    /// ^C, after a clean stop. 128 and the number of SIGINT, as shells report it.
    static let interrupted = ExitCode(130)
}

/// Replaces Swift's `print`, which ignores failures to write. Text that cannot be written ends the process with code
/// 2.
func print(_ text: String, terminator: String = "\n") { StandardOutput.print(text, terminator: terminator) }

/// Writes on standard error why a command did not start; returns ``ExitCode/unusable``. `sentence`: the problem and
/// the remedy, with its full stop.
func refuse(_ sentence: String) -> ExitCode {
    StandardError.write("signalbox: \(sentence)\n")
    return .unusable
}

extension Error {
    /// Writes an error of the libraries on standard error and returns its exit code. Other errors are returned
    /// unchanged. The only place that turns errors into exit codes. `main` calls it once, with the error that ended
    /// the command.
    var reported: any Error {
        switch self as any Error {
        case let error as StoreError: return refuse("\(error)")
        case let error as ListenError: return refuse("\(error)")
        case let error as ConfigRefusal:
            StandardError.write(error.report(hasColor: StandardError.hasColor))
            return ExitCode.unusable
        case ReplayError.refused(let sentence), CommandFailure.refused(let sentence):
            return sentence.isEmpty ? ExitCode.unusable : refuse(sentence)
        case ReplayError.damaged(let sentence), CommandFailure.incomplete(let sentence):
            if !sentence.isEmpty { _ = refuse(sentence) }
            return ExitCode.incomplete
        case ReplayError.interrupted, CommandFailure.interrupted: return ExitCode.interrupted
        default: return self
        }
    }
}
