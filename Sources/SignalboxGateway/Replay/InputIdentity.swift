import Foundation
import SignalboxEgress

/// What an input file is known by when a replay goes on: it is read again only as far as it was not, so it must be what
/// it was.
package struct InputIdentity: Sendable, Equatable, Codable {
    package let name: String
    /// In bytes, as the file lies there.
    package let size: Int
    /// SHA-256 of its first 64 KiB, in hexadecimal digits.
    package let head: String

    package init(name: String, size: Int, head: String) {
        self.name = name
        self.size = size
        self.head = head
    }

    private static let headLength = 64 * 1024

    /// Reads the identity of a plain file; fails with a sentence when it is none or cannot be read.
    package init(ofFile path: String) throws(Unreadable) {
        do {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: (path as NSString).resolvingSymlinksInPath)
            guard attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int else {
                throw Unreadable(reason: "\(path) is no plain file: only those can be read again from the middle.")
            }
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { _ = try? file.close() }
            let head = try file.read(upToCount: Self.headLength) ?? Data()
            self.init(name: path, size: size, head: hexadecimal(sha256(Array(head))))
        } catch let error as Unreadable {
            throw error
        } catch {
            throw Unreadable(reason: "\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    package struct Unreadable: Error { package let reason: String }

    /// What is different now, in words; nil when nothing is.
    package func difference(from now: InputIdentity) -> String? {
        if name != now.name { return "it was \(name) and is \(now.name) now" }
        if size != now.size { return "\(name) had \(size) bytes and has \(now.size) now" }
        if head != now.head { return "\(name) begins with other bytes now" }
        return nil
    }
}
