import ArgumentParser
import Foundation

/// The files that a command was given, or standard input, read one after another in large pieces, decompressed.
struct InputFiles {
    let paths: [String]
    /// Asked while there is nothing to read yet: whether nobody wants it any more.
    private let isStopped: @Sendable () -> Bool

    /// No paths, or `-`, stand for standard input.
    init(_ paths: [String], isStopped: @escaping @Sendable () -> Bool = { false }) {
        self.paths = paths.isEmpty ? ["-"] : paths
        self.isStopped = isStopped
    }

    /// Of each, in bytes as the files lie there; nil when one is no plain file.
    var sizes: [Int]? {
        var sizes: [Int] = []
        for path in paths {
            let resolved = (path as NSString).resolvingSymlinksInPath
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved),
                attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int
            else { return nil }
            sizes.append(size)
        }
        return sizes
    }

    /// Says on standard error which of the inputs cannot be read, before anything is done with the others. `outcome`: what that
    /// means, as a sentence.
    func check(outcome: String) throws(ExitCode) {
        for path in paths where path != "-" {
            var status = stat()
            guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
                throw refuse("\(path) cannot be opened: \(String(cString: strerror(errno))). \(outcome)")
            }
            guard status.st_mode & S_IFMT != S_IFDIR else {
                throw refuse("\(path) cannot be read: \(String(cString: strerror(EISDIR))). \(outcome)")
            }
        }
    }

    private static func open(_ path: String) throws(ExitCode) -> Int32 {
        guard path != "-" else { return STDIN_FILENO }
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refuse("\(path) cannot be opened: \(String(cString: strerror(errno))).") }
        return descriptor
    }

    /// How messages name an input.
    func name(of position: Int) -> String { paths[position] == "-" ? "standard input" : paths[position] }

    /// Opens an input. `offset`: of a plain file, where to begin.
    func open(_ position: Int, from offset: Int? = nil) throws(ExitCode) -> InputFile {
        let name = name(of: position)
        let descriptor = try Self.open(paths[position])
        if let offset, lseek(descriptor, off_t(offset), SEEK_SET) != off_t(offset) {
            close(descriptor)
            throw refuse("\(name) cannot be read from its middle: \(String(cString: strerror(errno))).")
        }
        return InputFile(name: name, descriptor, from: offset, isStopped: isStopped)
    }

    /// Opens each file in turn and hands it to `body`.
    func forEach(_ body: (inout InputFile) async throws -> Void) async throws {
        for position in paths.indices {
            var file = try open(position)
            try await body(&file)
        }
    }
}

/// One input, read piece by piece.
struct InputFile: ~Copyable {
    /// For messages.
    let name: String
    private let descriptor: Int32
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 16)
    private let decoded = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 16)
    private var rest = UnsafeRawBufferPointer(start: nil, count: 0)
    private var decompression: Decompression?
    private var hasEnded = false
    /// Where in the file reading has come to, before decompression.
    private(set) var bytesRead = 0
    /// Whether it can keep a reader waiting for long.
    private let mayStall: Bool
    private let isStopped: @Sendable () -> Bool

    private static let piece = 256 * 1024

    fileprivate init(
        name: String, _ descriptor: Int32, from offset: Int?, isStopped: @escaping @Sendable () -> Bool
    ) {
        self.name = name
        self.descriptor = descriptor
        self.isStopped = isStopped
        var status = stat()
        mayStall = fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG
        bytesRead = offset ?? 0
        isPlain = offset != nil
        // From its middle only a plain file can be read.
        if offset != nil { decompression = Decompression(start: rest) }
    }

    /// Whether the file's own bytes are what is read of it; known once something was.
    private(set) var isPlain: Bool

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
        memory.deallocate()
        decoded.deallocate()
    }

    /// Hands the next piece to `take`; false at the end, when there is none. A piece lasts as long as the call.
    mutating func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(ExitCode) -> Bool {
        while true {
            if rest.isEmpty, !hasEnded { try fill() }
            if decompression == nil {
                decompression = Decompression(start: rest)
                isPlain = decompression?.isPlain ?? false
            }
            guard let piece = try nextPiece() else { return false }
            if !piece.isEmpty {
                take(piece)
                return true
            }
        }
    }

    /// Nil at the end; empty when more must be read first.
    private mutating func nextPiece() throws(ExitCode) -> UnsafeRawBufferPointer? {
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
            StandardError.write("signalbox: \(name) is damaged or cut off: it cannot be decompressed to its end.\n")
            throw .incomplete
        }
    }

    /// Reads the next piece of the file; a first one of at least four bytes, by which formats are known.
    private mutating func fill() throws(ExitCode) {
        var count = 0
        repeat {
            let more = try readOnce(UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
            hasEnded = more == 0
            count += more
        } while count < 4 && !hasEnded
        bytesRead += count
        rest = UnsafeRawBufferPointer(rebasing: memory[..<count])
    }

    /// Whether the next piece is not there yet.
    var wouldWait: Bool {
        guard mayStall, rest.isEmpty, !hasEnded else { return false }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Foundation.poll(&poll, 1, 0) == 0
    }

    /// A read that waits for a pipe could not be stopped.
    private func waitForInput() throws(ExitCode) {
        guard mayStall else { return }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while Foundation.poll(&poll, 1, 200) == 0 {
            if isStopped() { throw .interrupted }
        }
    }

    private func readOnce(_ memory: UnsafeMutableRawBufferPointer) throws(ExitCode) -> Int {
        try waitForInput()
        while true {
            let count = Foundation.read(descriptor, memory.baseAddress, memory.count)
            if count >= 0 { return count }
            guard errno == EINTR else {
                throw refuse("\(name) cannot be read: \(String(cString: strerror(errno))).")
            }
        }
    }
}
