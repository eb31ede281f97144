import ArgumentParser
import Foundation

/// The files that a command was given, or standard input, read one after another in large pieces, decompressed.
struct InputFiles {
    let paths: [String]

    /// No paths, or `-`, stand for standard input.
    init(_ paths: [String]) { self.paths = paths.isEmpty ? ["-"] : paths }

    /// Total size in bytes as the files lie there, when all are plain files.
    var size: Int? {
        var total = 0
        for path in paths {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int
            else { return nil }
            total += size
        }
        return total
    }

    private static func open(_ path: String) throws(ExitCode) -> Int32 {
        guard path != "-" else { return STDIN_FILENO }
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refuse("\(path) cannot be opened: \(String(cString: strerror(errno))).") }
        return descriptor
    }

    /// Opens each file in turn and hands it to `body`.
    func forEach(_ body: (inout InputFile) async throws -> Void) async throws {
        for path in paths {
            var file = InputFile(name: path == "-" ? "standard input" : path, try Self.open(path))
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
    /// Bytes read so far, before decompression.
    private(set) var bytesRead = 0

    private static let piece = 256 * 1024

    fileprivate init(name: String, _ descriptor: Int32) {
        self.name = name
        self.descriptor = descriptor
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
        memory.deallocate()
        decoded.deallocate()
    }

    /// Hands the next piece to `take`; false at the end, when there is none. A piece lasts as long as the call.
    mutating func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(ExitCode) -> Bool {
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

    private func readOnce(_ memory: UnsafeMutableRawBufferPointer) throws(ExitCode) -> Int {
        while true {
            let count = Foundation.read(descriptor, memory.baseAddress, memory.count)
            if count >= 0 { return count }
            guard errno == EINTR else {
                throw refuse("\(name) cannot be read: \(String(cString: strerror(errno))).")
            }
        }
    }
}
