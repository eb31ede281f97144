import Foundation

/// The location of a secret. The config never has the secret itself. Safe to log and to print.
package enum SecretReference: Sendable, Hashable, CustomStringConvertible {
    /// The name of a variable of the process.
    case environment(String)
    /// A path; relative paths count from the working directory.
    case file(String)

    /// Reads `env:NAME` or `file:/path`; nil for anything else.
    package init?(_ text: String) {
        if text.hasPrefix("env:"), text.count > 4 {
            self = .environment(String(text.dropFirst(4)))
        } else if text.hasPrefix("file:"), text.count > 5 {
            self = .file(String(text.dropFirst(5)))
        } else {
            return nil
        }
    }

    /// As the config writes it.
    package var description: String {
        switch self {
        case .environment(let name): "env:\(name)"
        case .file(let path): "file:\(path)"
        }
    }

    /// Reads the secret, without white space around it, because files end with a line end. Throws for an empty
    /// secret, which would accept every client. Reads a file at each call. `limit`: the most bytes of a file, which
    /// must be UTF-8.
    package func resolve(
        environment: [String: String], upTo limit: Int = largestFile
    ) throws(UnresolvedSecret) -> String {
        let found: String?
        switch self {
        case .environment(let name): found = environment[name]
        case .file(let path):
            do throws(UnreadableFile) { found = try Self.text(of: path, upTo: limit) } catch {
                throw UnresolvedSecret(reference: self, isEmpty: false, reason: error.reason)
            }
        }
        guard let secret = found?.trimmingCharacters(in: .whitespacesAndNewlines) else {
            throw UnresolvedSecret(reference: self, isEmpty: false)
        }
        guard !secret.isEmpty else { throw UnresolvedSecret(reference: self, isEmpty: true) }
        return secret
    }

    /// The most bytes of a secret's file.
    package static let largestFile = 64 << 10

    /// The text of a file, without a byte order mark. Throws for a file that cannot be read, is too large, or is not
    /// UTF-8.
    private static func text(of path: String, upTo limit: Int) throws(UnreadableFile) -> String {
        let bytes = try ConfigText.contents(of: path, upTo: limit + 1)
        guard bytes.count <= limit else { throw UnreadableFile(because: "it is larger than \(ByteCount.text(limit))") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UnreadableFile(because: "it is not UTF-8 text")
        }
        // Invisible: a sender without it would have another token.
        return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
    }
}

/// The config names a secret that is missing or empty.
package struct UnresolvedSecret: Error, Sendable, CustomStringConvertible {
    /// The reference that led to no secret.
    package let reference: SecretReference
    /// True for a secret of white space only, false for a missing or unreadable one.
    package let isEmpty: Bool
    /// Why its file cannot be read, as a clause; nil for a variable and for a file that is empty.
    var reason: String?

    /// A clause without a full stop that names the reference and the remedy.
    package var description: String {
        switch reference {
        case .environment(let name):
            "the environment variable \(name) is \(isEmpty ? "empty" : "not set"); set it to the value of the option"
        case .file(let path):
            "the file \(path) \(isEmpty ? "is empty" : unreadable); it should contain the value of the option"
        }
    }

    private var unreadable: String { "cannot be read" + (reason.map { ": " + $0 } ?? "") }
}
