import Foundation

/// A file, independent of the spelling of its path: links and other paths to the same file are equal. It is a
/// snapshot: a file that is replaced later may have another identity.
package struct FileIdentity: Equatable {
    private let path: String
    /// Device and inode; nil if the path is missing or is not a regular file.
    private let node: Node?

    private struct Node: Equatable {
        let device: dev_t
        let number: ino_t
    }

    /// The file need not exist. Looks at the disk once, and follows links.
    package init(_ path: String) {
        var status = stat()
        let isFound = stat(path, &status) == 0
        self.init(path: URL(fileURLWithPath: path).standardizedFileURL.path, isFound, status)
    }

    /// `path`: an input of a command; `-` is standard input. Standard input equals the file that it is redirected
    /// from.
    package init(input path: String) {
        guard path == "-" else {
            self.init(path)
            return
        }
        var status = stat()
        let isFound = fstat(STDIN_FILENO, &status) == 0
        // No standardized path ends with a slash.
        self.init(path: "-/", isFound, status)
    }

    private init(path: String, _ isFound: Bool, _ status: stat) {
        self.path = path
        let isRegular = isFound && status.st_mode & S_IFMT == S_IFREG
        node = isRegular ? Node(device: status.st_dev, number: status.st_ino) : nil
    }

    /// True for the same file under any path, and for the same path of a missing file.
    package static func == (left: Self, right: Self) -> Bool {
        left.path == right.path || left.node != nil && left.node == right.node
    }

    /// Why a command must not write the file that an option names, as one sentence; nil if it may. `inputs`: files that
    /// the command reads; empty for standard input. It opens no file. Finds a file even under another path or link. A
    /// file that does not exist yet conflicts with an equal path only.
    package static func conflict(of option: String, _ path: String, inputs: [String], config: String) -> String? {
        let file = FileIdentity(path)
        if (inputs.isEmpty ? ["-"] : inputs).contains(where: { FileIdentity(input: $0) == file }) {
            return "\(option) names one of the inputs."
        }
        return FileIdentity(config) == file ? "\(option) names the config." : nil
    }
}
