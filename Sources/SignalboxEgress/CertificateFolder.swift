import Foundation

/// The files of a local authority and its server certificate: `ca.crt`, `ca.key`, `server.crt` and `server.key`.
package struct CertificateFolder: Sendable {
    /// Why files could not be read or written: one sentence with the remedy.
    package struct Failure: Error, Equatable {
        package let sentence: String
    }

    /// Created if it does not exist, for the owner only.
    private let directory: String

    package init(_ directory: String) { self.directory = directory }

    /// The path of a file.
    package func path(_ name: String) -> String { directory + "/" + name }

    /// Whether there is a server certificate.
    package var hasServer: Bool { FileManager.default.fileExists(atPath: path("server.key")) }

    /// Makes a server certificate for these hosts and addresses, by the authority of the folder, which is made if there
    /// is none. Replaces an earlier one.
    package func issue(for names: [(name: String, isAddress: Bool)]) throws(Failure) {
        let issued = try authority().issue(for: names)
        try write(issued.key, to: "server.key", isSecret: true)
        try write(issued.certificate, to: "server.crt")
    }

    private func authority() throws(Failure) -> CertificateMaker {
        let (certificate, key) = (contents("ca.crt"), contents("ca.key"))
        if let certificate, let key {
            if let maker = CertificateMaker(authority: .init(certificate: certificate, key: key)) { return maker }
            throw Failure(
                sentence: "\(path("ca.crt")) and \(path("ca.key")) are not a certificate and its key, in PEM.")
        }
        guard certificate == nil, key == nil else {
            throw Failure(
                sentence: "\(directory) has only one of ca.crt and ca.key. Restore the other, or choose another "
                    + "--directory.")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(sentence: "Cannot create the directory \(directory): \(error.localizedDescription)")
        }
        let maker = CertificateMaker(authority: "Signalbox local CA")
        try write(maker.authority.key, to: "ca.key", isSecret: true)
        try write(maker.authority.certificate, to: "ca.crt")
        return maker
    }

    private func contents(_ name: String) -> String? {
        FileManager.default.contents(atPath: path(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Replaces the file as a whole, so a running gateway never reads a part. A secret file is for its owner only.
    private func write(_ text: String, to name: String, isSecret: Bool = false) throws(Failure) {
        let draft = path(".\(name).\(getpid())")
        let mode = isSecret ? 0o600 : 0o644
        let isWritten = FileManager.default.createFile(
            atPath: draft, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
        guard isWritten, rename(draft, path(name)) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(draft)
            throw Failure(sentence: "Cannot write \(path(name)): \(reason).")
        }
    }
}
