import Foundation

extension stat {
    /// When the content was last changed, since 1970.
    ///
    /// Reads the two words of POSIX's `timespec` without their names: which C module declares them depends on the
    /// order in which the compiler loads modules, and one of these modules cannot be imported.
    var modified: (seconds: Int, nanoseconds: Int) {
        withUnsafeBytes(of: st_mtim) { words in
            (words.load(as: Int.self), words.load(fromByteOffset: MemoryLayout<Int>.stride, as: Int.self))
        }
    }
}
