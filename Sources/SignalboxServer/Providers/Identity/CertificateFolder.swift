import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification

/// A directory with a local certificate authority and the certificate of the provider endpoints, in PEM.
package struct CertificateFolder {
    /// A sentence for the user: what failed, and the remedy.
    package struct Failure: Error {
        /// Ready to print: names the file, and has no secret.
        package let sentence: String
    }

    /// Created if it does not exist, for the owner only.
    private let directory: String

    /// `directory`: a path; nothing is read or written before ``issue(for:renew:)``.
    package init(_ directory: String) { self.directory = directory }

    /// The names under which senders reach providers.
    private static let hosts = ["localhost", "127.0.0.1", "::1"] + ProviderHost.names

    /// Writes a server certificate for this machine, the hosts of providers and `hosts`, and an authority if there is
    /// none. An existing authority stays, so senders trust a renewed certificate at once. Returns the paths of the
    /// authority's certificate, the server's and its key. Throws if the certificate exists and `renew` is false, if
    /// the authority is incomplete, and if a file cannot be read or written.
    package func issue(
        for hosts: [String], renew: Bool
    ) throws(Failure) -> (authority: String, certificate: String, key: String) {
        guard renew || !FileManager.default.fileExists(atPath: path("server.key")) else {
            throw Failure(sentence: "\(path("server.key")) exists. Use --renew to replace the certificate.")
        }
        let maker = try authority()
        let names = (hosts + Self.hosts).map { (name: $0, isAddress: IPAddress($0) != nil) }
        let issued = maker.issue(for: names)
        try write(issued.key, to: "server.key", isSecret: true)
        try write(issued.certificate, to: "server.crt")
        return (path("ca.crt"), path("server.crt"), path("server.key"))
    }

    /// The authority of the directory, which is made if there is none.
    private func authority() throws(Failure) -> CertificateMaker {
        let (certificate, key) = (try contents("ca.crt"), try contents("ca.key"))
        if let certificate, let key {
            if let maker = CertificateMaker(authority: .init(certificate: certificate, key: key)) { return maker }
            throw Failure(
                sentence: "\(path("ca.crt")) and \(path("ca.key")) are not a certificate and its key, in PEM.")
        }
        guard certificate == nil, key == nil else {
            throw Failure(
                sentence:
                    "\(directory) has only one of ca.crt and ca.key. Restore the other, or choose another --directory.")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            let cause = (error as? CocoaError)?.underlying as? POSIXError
            let reason = cause.map { ": " + String(cString: strerror($0.code.rawValue)) } ?? ""
            throw Failure(
                sentence:
                    "Cannot create the directory \(directory)\(reason). Correct that, or choose another --directory.")
        }
        let maker = CertificateMaker(authority: "Signalbox local CA")
        try write(maker.authority.key, to: "ca.key", isSecret: true)
        try write(maker.authority.certificate, to: "ca.crt")
        return maker
    }

    private func path(_ name: String) -> String { directory + "/" + name }

    /// Nil for a file that does not exist. Throws for one that cannot be read: a new authority would replace it.
    private func contents(_ name: String) throws(Failure) -> String? {
        let path = path(name)
        if let data = FileManager.default.contents(atPath: path) { return String(decoding: data, as: UTF8.self) }
        let error = access(path, R_OK) == 0 ? EISDIR : errno
        guard error == ENOENT else {
            let reason = String(cString: strerror(error))
            throw Failure(sentence: "Cannot read \(path): \(reason). Correct that, or choose another --directory.")
        }
        return nil
    }

    /// Replaces the file as a whole, so a running gateway never reads a part. A secret file is for its owner only, from
    /// its creation on: Foundation would change its mode after it was written. Every user may read the other files,
    /// also if the umask of the process permits only the owner.
    private func write(_ text: String, to name: String, isSecret: Bool = false) throws(Failure) {
        let draft = path(".\(name).\(getpid())")
        // A process that was killed may have left one: in a container, processes have the same number.
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0, !isSecret { fchmod(file, 0o644) }
        let isWritten = file >= 0 && writeAll(text, to: file) && rename(draft, path(name)) == 0
        let reason = String(cString: strerror(errno))
        if file >= 0 { close(file) }
        guard isWritten else {
            unlink(draft)
            throw Failure(sentence: "Cannot write \(path(name)): \(reason).")
        }
    }
}
