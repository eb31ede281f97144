import Foundation

extension ConfigText {
    /// What a file begins with, at most so many bytes; nil when it cannot be read. Neither a huge file nor a device fills
    /// the memory.
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
