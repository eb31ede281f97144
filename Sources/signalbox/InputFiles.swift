import ArgumentParser
import Foundation

/// The files that a command was given, or standard input, read one after another in large pieces.
struct InputFiles {
    let paths: [String]
    private static let chunk = 256 * 1024

    /// No paths, or `-`, stand for standard input.
    init(_ paths: [String]) { self.paths = paths.isEmpty ? ["-"] : paths }

    /// Total size in bytes, when all are plain files.
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

    /// Opens each file in turn. `body` gets its name for messages and a function that hands over the next piece, empty at
    /// the end, and says its size.
    func forEach(
        _ body: (_ name: String, _ read: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Int) async throws
            -> Void
    ) async throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
        defer { memory.deallocate() }
        for path in paths {
            let name = path == "-" ? "standard input" : path
            let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw refuse("\(path) cannot be opened: \(String(cString: strerror(errno))).") }
            defer { if file != STDIN_FILENO { close(file) } }
            try await body(name) { piece in
                var count = Foundation.read(file, memory.baseAddress, memory.count)
                while count < 0, errno == EINTR { count = Foundation.read(file, memory.baseAddress, memory.count) }
                guard count >= 0 else { throw refuse("\(name) cannot be read: \(String(cString: strerror(errno))).") }
                try piece(UnsafeRawBufferPointer(rebasing: memory[..<count]))
                return count
            }
        }
    }
}
