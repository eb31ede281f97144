import ArgumentParser
import Foundation
import SignalboxEgress
import SignalboxNotification
import SignalboxServer

/// Makes the certificates of the provider endpoints.
struct Certificates: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certs", abstract: "Create certificates for the provider endpoints.",
        subcommands: [New.self], defaultSubcommand: New.self)

    /// Writes four files in PEM. Keeps an existing authority, so senders trust a renewed certificate at once.
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a local CA, if there is none, and a server certificate.",
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

        /// The names under which senders reach providers.
        private static let hosts = ["localhost", "127.0.0.1", "::1"] + ProviderHost.names

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
            guard renew || !FileManager.default.fileExists(atPath: path("server.key")) else {
                throw refuse("\(path("server.key")) exists. Use --renew to replace the certificate.")
            }
            let maker = try authority()
            let names = (host + Self.hosts).map { (name: $0, isAddress: IPAddress($0) != nil) }
            let issued = maker.issue(for: names)
            try write(issued.key, to: "server.key", isSecret: true)
            try write(issued.certificate, to: "server.crt")
            print("ca: \(path("ca.crt"))")
            print("certificate: \(path("server.crt"))")
            print("key: \(path("server.key"))")
        }

        /// The authority of the directory, which is made if there is none.
        private func authority() throws -> CertificateMaker {
            let (certificate, key) = (contents("ca.crt"), contents("ca.key"))
            if let certificate, let key {
                if let maker = CertificateMaker(authority: .init(certificate: certificate, key: key)) { return maker }
                throw refuse("\(path("ca.crt")) and \(path("ca.key")) are not a certificate and its key, in PEM.")
            }
            guard certificate == nil, key == nil else {
                throw refuse(
                    "\(directory) has only one of ca.crt and ca.key. Restore the other, or choose another --directory.")
            }
            do {
                try FileManager.default.createDirectory(
                    atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw refuse("Cannot create the directory \(directory): \(error.localizedDescription)")
            }
            let maker = CertificateMaker(authority: "Signalbox local CA")
            try write(maker.authority.key, to: "ca.key", isSecret: true)
            try write(maker.authority.certificate, to: "ca.crt")
            return maker
        }

        private func path(_ name: String) -> String { directory + "/" + name }

        private func contents(_ name: String) -> String? {
            FileManager.default.contents(atPath: path(name)).map { String(decoding: $0, as: UTF8.self) }
        }

        /// Replaces the file as a whole, so a running gateway never reads a part. A secret file is for its owner only.
        private func write(_ text: String, to name: String, isSecret: Bool = false) throws {
            let draft = path(".\(name).\(getpid())")
            let mode = isSecret ? 0o600 : 0o644
            let isWritten = FileManager.default.createFile(
                atPath: draft, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
            guard isWritten, rename(draft, path(name)) == 0 else {
                let reason = String(cString: strerror(errno))
                unlink(draft)
                throw refuse("Cannot write \(path(name)): \(reason).")
            }
        }
    }
}
