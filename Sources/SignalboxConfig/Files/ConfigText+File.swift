import Foundation

extension ConfigText {
    /// Reads the beginning of a file that a config or an operator names, at most this many bytes. Throws for a file
    /// that cannot be read, and for one that is not a regular file: a pipe or a device could block the reader or never
    /// end. Follows symbolic links. `orPipe`: also accepts a pipe, for a file that the operator names on the command
    /// line, and blocks until it has a writer.
    package static func contents(
        of path: String, upTo most: Int, orPipe: Bool = false
    ) throws(UnreadableFile) -> [UInt8] {
        // Without O_NONBLOCK, opening a pipe blocks until it has a writer, and opening a device may have effects.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (orPipe ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw UnreadableFile(errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw UnreadableFile(errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFIFO where orPipe: break
        case S_IFIFO: throw UnreadableFile(because: "it is a named pipe")
        case S_IFDIR: throw UnreadableFile(because: "it is a directory")
        default: throw UnreadableFile(because: "it is a device, not a file")
        }
        do {
            return Array(try file.read(upToCount: most) ?? Data())
        } catch {
            throw UnreadableFile(because: "reading it failed")
        }
    }
}
