import Foundation

/// The file that `--resume` names. It is replaced as a whole: whoever reads it after a crash finds the state before or
/// after a change.
package struct ResumeFile: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Why the file cannot be used, as one sentence.
    package struct Failure: Error, CustomStringConvertible { package let description: String }

    /// Nil when there is none yet.
    package func load() throws(Failure) -> ResumeState? {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            guard !FileManager.default.fileExists(atPath: path) else {
                throw Failure(description: "\(path) cannot be read; name another file with --resume.")
            }
            return nil
        }
        guard let state = try? JSONDecoder().decode(ResumeState.self, from: bytes),
            state.version == ResumeState.version
        else {
            throw Failure(
                description: "\(path) holds no state of a replay of this version; name another file with --resume.")
        }
        return state
    }

    /// Replaces the file. On disk when it returns.
    package func save(_ state: ResumeState) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let text = try? encoder.encode(state) else { preconditionFailure("The state of a replay is JSON.") }
        let new = path + ".new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("made") }
        let isWritten = Self.write(Array(text) + [UInt8(ascii: "\n")], to: descriptor) && fsync(descriptor) == 0
        guard isWritten else {
            let failure = failure("written")
            close(descriptor)
            throw failure
        }
        close(descriptor)
        guard rename(new, path) == 0 else { throw failure("replaced") }
        try syncDirectory()
    }

    /// Without this, a power cut may bring the old name back.
    private func syncDirectory() throws(Failure) {
        let directory = (path as NSString).deletingLastPathComponent
        let descriptor = open(directory.isEmpty ? "." : directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("put on disk") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("put on disk") }
    }

    private func failure(_ what: String) -> Failure {
        Failure(description: "\(path) cannot be \(what): \(String(cString: strerror(errno))).")
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                let count = Foundation.write(descriptor, piece.baseAddress, piece.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
