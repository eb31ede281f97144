import Foundation

extension ConfigText {
    /// Reads the beginning of a file, at most this many bytes; nil when it is unreadable. Neither a huge file nor a
    /// device fills the memory. Follows symbolic links. Blocks while a pipe has no writer.
    package static func beginning(of path: String, upTo most: Int) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        do {
            return Array(try file.read(upToCount: most) ?? Data())
        } catch {
            return nil
        }
    }
}
