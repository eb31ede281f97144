import Foundation

/// The input files of a command, or standard input, read one after another in large pieces and decompressed. Opens no
/// file before ``open(_:)``.
package struct InputFiles {
    /// At least one; `-` is standard input.
    package let paths: [String]
    /// Polled while an input has no data yet: true ends the reading.
    private let isStopped: @Sendable () -> Bool

    /// `paths`: empty for standard input; `-` is standard input too. `isStopped`: called from the reading task,
    /// several times a second. Does not check that the files exist: see ``check(outcome:)`` and ``open(_:)``.
    package init(_ paths: [String], isStopped: @escaping @Sendable () -> Bool = { false }) {
        self.paths = paths.isEmpty ? ["-"] : paths
        self.isStopped = isStopped
    }

    /// The size of each file in bytes, compressed as stored; nil if one of them is not a regular file.
    var sizes: [Int]? {
        var sizes: [Int] = []
        for path in paths {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            sizes.append(Int(status.st_size))
        }
        return sizes
    }

    /// Refuses inputs that cannot be read, before the first one is. `outcome`: the consequence, as a sentence. Throws
    /// ``ReplayError/refused(_:)`` for the first input that is missing, not readable or a directory.
    func check(outcome: String) throws(ReplayError) {
        for path in paths where path != "-" {
            var status = stat()
            guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
                throw .refused("Cannot open \(path): \(String(cString: strerror(errno))). \(outcome)")
            }
            guard status.st_mode & S_IFMT != S_IFDIR else {
                throw .refused("Cannot read \(path): \(String(cString: strerror(EISDIR))). \(outcome)")
            }
        }
    }

    /// The name of an input in messages. `index`: from 0.
    package func name(of index: Int) -> String { paths[index] == "-" ? "standard input" : paths[index] }

    /// Opens an input. The caller owns the result and reads it to its end. Throws ``ReplayError/refused(_:)`` with
    /// the system's reason. Standard input can be opened once.
    package func open(_ index: Int) throws(ReplayError) -> InputFile {
        let path = paths[index]
        let descriptor = path == "-" ? STDIN_FILENO : Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("Cannot open \(path)") }
        return InputFile(name: name(of: index), descriptor, isStopped: isStopped)
    }
}

/// One input, read piece by piece. It closes its file, unless that is standard input, and frees its memory when it
/// ends. Needs 512 KiB of memory for a file of any size.
package struct InputFile: ~Copyable {
    /// Used in messages.
    package let name: String
    /// Owned by this value unless it is standard input.
    private let descriptor: Int32
    /// Bytes as read from the file.
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 16)
    /// Decompressed bytes.
    private let decoded = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 16)
    /// Bytes in ``memory`` that were not passed on yet.
    private var rest = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Nil until the first bytes tell the format.
    private var decompression: Decompression?
    /// The file has ended; decompressed bytes may still follow.
    private var hasEnded = false
    /// Bytes read from the file, before decompression.
    private(set) var bytesRead = 0
    /// True for a pipe or a terminal, which can block a read.
    private let mayStall: Bool
    private let isStopped: @Sendable () -> Bool

    /// The most bytes of one read, and of one decompressed piece.
    private static let piece = 256 * 1024

    fileprivate init(name: String, _ descriptor: Int32, isStopped: @escaping @Sendable () -> Bool) {
        (self.name, self.descriptor, self.isStopped) = (name, descriptor, isStopped)
        var status = stat()
        mayStall = fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
        memory.deallocate()
        decoded.deallocate()
    }

    /// Passes the next piece to `take`, for the duration of the call; false at the end of the input. A piece has at
    /// most 256 KiB and is cut anywhere. Throws ``ReplayError/damaged(_:)`` for compressed input that is cut off, and
    /// ``ReplayError/interrupted`` when the reading is stopped. The bytes are valid during the call to `take` only.
    /// Blocks until there is input, and polls for ^C meanwhile.
    package mutating func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(ReplayError) -> Bool {
        while true {
            if rest.isEmpty, !hasEnded { try fill() }
            if decompression == nil { decompression = Decompression(start: rest) }
            guard let piece = try nextPiece() else { return false }
            if !piece.isEmpty {
                take(piece)
                return true
            }
        }
    }

    /// Nil at the end; empty when more must be read first. Decodes at most one buffer of output.
    private mutating func nextPiece() throws(ReplayError) -> UnsafeRawBufferPointer? {
        do throws(Decompression.Damaged) {
            guard decompression?.isPlain == false else {
                defer { rest = UnsafeRawBufferPointer(start: nil, count: 0) }
                return rest.isEmpty && hasEnded ? nil : rest
            }
            let (taken, given) = try decompression?.decode(rest, into: decoded) ?? (0, 0)
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            if given == 0, taken == 0, hasEnded {
                try decompression?.finish()
                return nil
            }
            return UnsafeRawBufferPointer(rebasing: decoded[..<given])
        } catch {
            throw .damaged(
                error.isWindowTooLarge
                    ? "\(name) needs a window of more than 128 MiB. Decompress it with zstd -dc --long=31 and pass it on "
                        + "standard input."
                    : "\(name) is damaged or cut off: it cannot be decompressed to its end.")
        }
    }

    /// Reads the next piece of the file. The first piece has at least four bytes, which identify the compression.
    private mutating func fill() throws(ReplayError) {
        var count = 0
        repeat {
            let more = try readOnce(UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
            hasEnded = more == 0
            count += more
        } while count < 4 && !hasEnded
        bytesRead += count
        rest = UnsafeRawBufferPointer(rebasing: memory[..<count])
    }

    /// True if the next read would block. The caller can then work on the input that it has.
    var wouldWait: Bool { mayStall && rest.isEmpty && !hasEnded && !hasInput(within: 0) }

    /// Also true at the end of the input, when a read returns at once.
    private func hasInput(within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Foundation.poll(&poll, 1, milliseconds) != 0
    }

    /// Returns 0 at the end of the input.
    private func readOnce(_ memory: UnsafeMutableRawBufferPointer) throws(ReplayError) -> Int {
        // A blocking read of a pipe could not be stopped.
        while mayStall, !hasInput(within: 200) {
            if isStopped() { throw .interrupted }
        }
        while true {
            let count = Foundation.read(descriptor, memory.baseAddress, memory.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw .failed("Cannot read \(name)") }
        }
    }
}
