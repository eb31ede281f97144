import Foundation

/// The config that `signalbox init` writes: every event goes to the terminal, and its comment gives the next steps.
package enum StarterConfig {
    /// The text of the file. It passes `routes check` without a warning and needs no environment.
    package static let text = """
        {
          "$comment": [
            "Start: signalbox serve. Try it in another terminal: signalbox send braze",
            "destinations: receivers of events. The inbox prints them on the terminal of serve. A webhook is",
            "  \\"crm\\": { \\"url\\": \\"https://crm.example.com/hooks/push\\", \\"secret\\": \\"env:CRM_SECRET\\" }",
            "  with a key of signalbox keys new in the environment variable CRM_SECRET.",
            "routes: every route whose pattern matches sends the event to its destinations. An empty one matches",
            "  every event; { \\"data\\": { \\"vendor\\": [\\"braze\\"] } } matches those of one vendor.",
            "sources: senders and their tokens. They are required unless serve listens on loopback only.",
            "  One looks like this:",
            "  \\"app\\": { \\"auth\\": { \\"bearer\\": [\\"env:APP_TOKEN\\"] } }",
            "Check a change with signalbox routes check; a running gateway reads the file again by itself."
          ],
          "gateway": { "name": "demo" },
          "destinations": {
            "inbox": { "builtin": "inbox" }
          },
          "routes": [
            { "name": "everything", "match": {}, "to": ["inbox"] }
          ]
        }

        """

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
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do { try file.write(contentsOf: Data(text.utf8)) } catch {
            unlink(path)
            throw .refused("Cannot write \(path): \(error.localizedDescription)")
        }
    }
}
