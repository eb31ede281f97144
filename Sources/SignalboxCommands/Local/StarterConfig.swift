internal import CResources
import Foundation
import SignalboxGateway

/// The config that `signalbox init` writes, from `starter.json`: every event goes to the terminal, and its comment
/// gives the next steps.
package enum StarterConfig {
    /// The text of the file. It passes `routes check` without a warning and needs no environment.
    package static let text = String(cString: sb_starter_json())

    /// Writes the file. Never replaces an existing one, not even one created meanwhile. Throws with the reason. All
    /// users of the machine may read it (mode 0644 before the umask), because it has no secret. A file that cannot be
    /// written completely is removed.
    package static func write(to path: String) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            guard errno == EEXIST else {
                throw .refused("Cannot create \(path): \(String(cString: strerror(errno))).")
            }
            throw .refused("\(path) already exists and was not changed. Choose another file: signalbox init FILE.")
        }
        defer { close(descriptor) }
        guard writeAll(text, to: descriptor) else {
            let reason = String(cString: strerror(errno))
            unlink(path)
            throw .refused("Cannot write \(path): \(reason).")
        }
    }
}
