import Foundation

/// What a path leads to: other spellings of it, and links, lead to the same file.
struct FilePlace: Equatable {
    private let path: String
    /// Where it is on disk; nil for what is not there, and for what is no plain file.
    private let node: Node?

    private struct Node: Equatable {
        let device: dev_t
        let number: ino_t

        /// `status`: what the system says of a file; nil where it says nothing.
        init?(_ status: stat?) {
            guard let status, status.st_mode & S_IFMT == S_IFREG else { return nil }
            device = status.st_dev
            number = status.st_ino
        }
    }

    private init(path: String, node: Node?) {
        self.path = path
        self.node = node
    }

    init(_ path: String) {
        var status = stat()
        self.init(
            path: URL(fileURLWithPath: path).standardizedFileURL.path,
            node: Node(stat(path, &status) == 0 ? status : nil))
    }

    /// As commands name their inputs: `-` is standard input.
    init(input path: String) {
        guard path == "-" else {
            self.init(path)
            return
        }
        var status = stat()
        // No file's path ends like this.
        self.init(path: "-/", node: Node(fstat(STDIN_FILENO, &status) == 0 ? status : nil))
    }

    static func == (left: Self, right: Self) -> Bool {
        left.path == right.path || left.node != nil && left.node == right.node
    }

    /// Why a command must not write the file that an option names, as one sentence. `inputs`: that it reads, none for standard
    /// input.
    static func misuse(of option: String, _ path: String, inputs: [String], config: String) -> String? {
        let place = FilePlace(path)
        if (inputs.isEmpty ? ["-"] : inputs).contains(where: { FilePlace(input: $0) == place }) {
            return "\(option) names one of the inputs."
        }
        return FilePlace(config) == place ? "\(option) names the config." : nil
    }
}
