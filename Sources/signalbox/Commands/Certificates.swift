import ArgumentParser
import SignalboxCommands
import SignalboxEgress
import SignalboxServer

/// Makes the certificates of the provider endpoints.
struct Certificates: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certs", abstract: "Create certificates for the provider endpoints.",
        subcommands: [New.self], defaultSubcommand: New.self)

    /// Writes four files in PEM. Keeps an existing authority, so senders trust a renewed certificate at once.
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Write a local CA, if there is none, and a server certificate.",
            discussion: """
                The certificate is valid for this machine, for the hosts of APNs, FCM and Expo, and for each --host. \
                Senders must trust ca.crt. The owner of ca.key can impersonate any host towards such senders: keep \
                the file on this machine, and never install ca.crt for a whole system.
                """)

        /// Created if it does not exist, for the owner only.
        @Option(help: "Directory of the files: ca.crt, ca.key, server.crt, server.key.", completion: .directory)
        var directory = "certs"

        /// In addition to the hosts of providers.
        @Option(help: "Another host name or IP address of the gateway, as senders use it. Repeatable.")
        var host: [String] = []

        /// Without it, an existing server certificate is an error.
        @Flag(help: "Replace an existing server certificate.")
        var renew = false

        @Flag(help: "Print one JSON object.") var json = false

        /// Rejects text that is neither a host nor an address.
        func validate() throws {
            for name in host where !CertificateMaker.isHost(name) {
                throw ValidationError(
                    "Invalid --host \(name): write a host name such as push.example.com, or an address.")
            }
        }

        /// Prints the files as the config refers to them. Exits with 2 when a file exists already or cannot be
        /// written.
        func run() throws {
            do throws(CertificateFolder.Failure) {
                let paths = try CertificateFolder(directory).issue(for: host, renew: renew)
                print(Results.certificates(paths.authority, paths.certificate, paths.key, asJSON: json))
            } catch {
                throw refuse(error.sentence)
            }
        }
    }
}
