package import Foundation
import SignalboxEgress
import SignalboxNotification

/// The file of `--resume`. It is replaced atomically: after a crash it holds the state before or after a change. One
/// process at a time may use it; nothing locks it.
package struct ResumeFile: Sendable {
    /// The path as it was typed.
    package let path: String

    /// Neither reads nor creates the file.
    package init(path: String) { self.path = path }

    /// The saved state; nil if the file does not exist. Throws ``ReplayError/refused(_:)`` if it cannot be used.
    /// Reads the whole file: it grows with the names of vendors and routes only.
    package func load() throws(ReplayError) -> ResumeState? {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            // A file that exists but cannot be found may have a state: a new run would send its events again.
            let error = path.lookupError
            guard error == ENOENT else {
                let reason = error.map { ": " + String(cString: strerror($0)) } ?? ""
                throw .refused("Cannot read \(path)\(reason). Name another file with --resume.")
            }
            return nil
        }
        guard let state = try? JSONDecoder().decode(ResumeState.self, from: bytes),
            state.version == ResumeState.version, state.isPossible
        else {
            throw .refused("\(path) is not a resume file of this version. Name another file with --resume.")
        }
        return state
    }

    /// Replaces the file. It is on disk when this returns. Writes a new file next to it, syncs it and renames it.
    /// Throws ``ReplayError/refused(_:)`` with the system's reason.
    package func save(_ state: ResumeState) throws(ReplayError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let text = try? encoder.encode(state) else { preconditionFailure("The state of a replay is JSON.") }
        let new = path + ".new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("Cannot create \(new)") }
        guard writeAll(Array(text) + [UInt8(ascii: "\n")], to: descriptor), fsync(descriptor) == 0 else {
            let error = ReplayError.failed("Cannot write \(new)")
            close(descriptor)
            throw error
        }
        close(descriptor)
        guard rename(new, path) == 0 else { throw .failed("Cannot replace \(path)") }
        try syncDirectory()
    }

    /// Without this, a power cut may restore the old name.
    private func syncDirectory() throws(ReplayError) {
        let directory = path.parentPath
        let descriptor = open(directory.isEmpty ? "." : directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("Cannot sync the directory of \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw .failed("Cannot sync the directory of \(path)") }
    }
}

/// The contents of a resume file: identity of the run, its inputs and options, and its durable progress. Contains no
/// payload and no token. The key is not a secret that protects data, but decides the ids of the run.
package struct ResumeState: Sendable, Equatable, Codable {
    /// Version of this layout.
    package static let version = 1

    /// A file of another version is refused.
    package var version = Self.version
    /// The run's key, in hexadecimal digits.
    package let run: String
    /// When the run began for the first time, in milliseconds since 1970.
    package let started: Int64
    /// The options that decide which events are made and how requests are cut, by name.
    package let options: [String: String]
    /// In the order of the command line.
    package internal(set) var inputs: [InputIdentity]
    /// Everything before it is durable; a resumed run skips it.
    package var position = InputPosition()
    /// True if no payload is left.
    package var isComplete = false
    /// Counts of everything before ``position``.
    package var tally = ReplayTally()
    /// Payloads that were selected and settled.
    package var taken = 0
    /// Rejected payloads before ``position``.
    package var rejected = 0
    /// Length of the file of rejections, in bytes.
    package var rejectBytes = 0
    /// Counters of failure rules before ``position``; nil if the run applies none.
    package var failures: [String: FailureDecider.Counts]?

    /// A new run.
    package init(key: [UInt8], started: Date, options: [String: String], inputs: [InputIdentity]) {
        run = hexadecimal(key)
        self.started = Int64((started.timeIntervalSince1970 * 1000).rounded(.down))
        (self.options, self.inputs) = (options, inputs)
    }

    /// False for numbers that no run writes. A position behind the last input would end the run without a payload, and
    /// sums with numbers far beyond the bound would overflow.
    var isPossible: Bool {
        let counts = [position.offset, taken, rejected, rejectBytes, tally.events, tally.repeats]
        return (position.input == 0 || inputs.indices.contains(position.input))
            && (counts + tally.rows.map(\.events)).allSatisfy { (0...(1 << 53)).contains($0) }
    }

    /// Derives the ids of the run's events and requests. Equal for all processes of the run.
    package var identity: RunIdentity {
        RunIdentity(key: Array(run.utf8), started: Date(timeIntervalSince1970: Double(started) / 1000))
    }

    /// Why a run with these options and inputs is a different run, as a clause; nil if it is this one. Compares the
    /// options by name first, then the inputs in their order.
    package func difference(options: [String: String], inputs: [InputIdentity]) -> String? {
        for name in Set(self.options.keys).union(options.keys).sorted() where self.options[name] != options[name] {
            let earlier = self.options[name].map { "was \($0)" } ?? "was not given"
            return "--\(name) \(earlier) when this replay began"
        }
        guard self.inputs.count == inputs.count else {
            return "it began with \(self.inputs.count) inputs, and now there are \(inputs.count)"
        }
        for (then, now) in zip(self.inputs, inputs) {
            if let difference = then.difference(from: now) { return "an input has changed since: \(difference)" }
        }
        return nil
    }
}

/// Identifies an input between two runs, so that a changed one is not resumed. The size and the head of standard input
/// are those of the text that was read so far, at most ``headLength`` bytes; ``StreamHead`` compares them.
package struct InputIdentity: Sendable, Equatable, Codable {
    /// The path as it was typed.
    package let name: String
    /// Bytes, compressed as stored.
    package let size: Int
    /// SHA-256 of its first 64 KiB, in hexadecimal digits.
    package let head: String

    /// For tests; commands read the file.
    package init(name: String, size: Int, head: String) { (self.name, self.size, self.head) = (name, size, head) }

    /// The most bytes of the beginning that identify an input.
    static let headLength = 64 * 1024

    /// Standard input before any text has been read.
    static let standardInput = InputIdentity(name: "-", size: 0, head: hexadecimal(sha256([])))

    /// Reads the identity of a regular file. Throws ``ReplayError/refused(_:)`` if it is not one or cannot be read.
    /// Reads at most 64 KiB. Follows symbolic links.
    package init(ofFile path: String) throws(ReplayError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .failed("Cannot read \(path)") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .refused("\(path) is not a regular file: only those can be read again from the middle.")
        }
        guard let file = FileHandle(forReadingAtPath: path) else { throw .failed("Cannot read \(path)") }
        guard let head = Self.head(of: file.fileDescriptor) else { throw .failed("Cannot read \(path)") }
        self.init(name: path, size: Int(status.st_size), head: hexadecimal(sha256(head)))
    }

    /// The first ``headLength`` bytes, or all of a shorter file; nil on a failure, with its reason in `errno`.
    private static func head(of descriptor: Int32) -> [UInt8]? {
        var (head, count) = ([UInt8](repeating: 0, count: headLength), 0)
        while count < headLength {
            let read = head.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
                return pread(descriptor, rest.baseAddress, rest.count, off_t(count))
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { return nil }
            guard read > 0 else { break }
            count += read
        }
        return Array(head[..<count])
    }

    /// The change since this identity was read, as a clause; nil if there is none. A change after the first 64 KiB
    /// that keeps the size is not found. Standard input is not compared, because it was not read yet.
    package func difference(from now: InputIdentity) -> String? {
        if name != now.name { return "it was \(name) and is \(now.name) now" }
        if name == Self.standardInput.name { return nil }
        if size != now.size { return "\(name) had \(size) bytes and has \(now.size) now" }
        if head != now.head { return "\(name) begins with other bytes now" }
        return nil
    }
}
