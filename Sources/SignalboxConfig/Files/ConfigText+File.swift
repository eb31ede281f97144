import Foundation

extension ConfigText {
    /// Reads the beginning of a file that a config names, at most this many bytes; nil when it is unreadable, or
    /// is not a regular file: a pipe or a device could block the reader or never end. Follows symbolic links.
    /// `orPipe`: also accepts a pipe, for a file that the operator names on the command line, and blocks until it has
    /// a writer.
    package static func beginning(of path: String, upTo most: Int, orPipe: Bool = false) -> [UInt8]? {
        // Without O_NONBLOCK, opening a pipe blocks until it has a writer, and opening a device may have effects.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (orPipe ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG || (orPipe && kind == S_IFIFO) else { return nil }
        do {
            return Array(try file.read(upToCount: most) ?? Data())
        } catch {
            return nil
        }
    }
}
