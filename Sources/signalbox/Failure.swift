import ArgumentParser
import Foundation

/// Exit codes that programs rely on.
extension ExitCode {
    /// Some inputs were rejected or some deliveries failed.
    static let incomplete = ExitCode(1)
    /// The command line, the config or the environment does not allow it.
    static let unusable = ExitCode(2)
    /// ^C, after a clean stop.
    static let interrupted = ExitCode(130)
}

/// Says on standard error, in a sentence, why nothing was done, and ends with ``ExitCode/unusable``.
func refuse(_ sentence: String) -> ExitCode {
    StandardError.write("signalbox: \(sentence)\n")
    return .unusable
}
