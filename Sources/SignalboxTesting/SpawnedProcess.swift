package import Foundation

/// Starts a program by `posix_spawn`. Foundation's `Process` is not used here: while some 1,350 descriptors are open,
/// its `run` reads beyond its list of them, and tests of connections open more than that.
package enum SpawnedProcess {
    /// Returns the process id. `directory`: the working directory; nil for that of the tests. `descriptors`: standard
    /// input, output and error of the process, which inherits no other descriptor. Throws `POSIXError` if the file
    /// cannot be executed.
    package static func start(
        _ path: String, _ arguments: [String], in directory: String?, environment: [String: String],
        descriptors: [Int32]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        try check(posix_spawn_file_actions_init(&actions))
        defer { posix_spawn_file_actions_destroy(&actions) }
        try check(posix_spawnattr_init(&attributes))
        defer { posix_spawnattr_destroy(&attributes) }
        for (number, descriptor) in descriptors.enumerated() {
            try check(posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number)))
        }
        let closeFrom = try function("posix_spawn_file_actions_addclosefrom_np", as: CloseFrom.self)
        try check(closeFrom(&actions, Int32(descriptors.count)))
        if let directory {
            let changeDirectory = try function("posix_spawn_file_actions_addchdir_np", as: ChangeDirectory.self)
            try check(changeDirectory(&actions, directory))
        }
        // The tests may block or ignore signals; the process begins without that.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        try check(posix_spawnattr_setsigmask(&attributes, &none))
        try check(posix_spawnattr_setsigdefault(&attributes, &all))
        try check(posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)))
        var id: pid_t = 0
        try withStrings([path] + arguments) { arguments in
            try withStrings(environment.map { "\($0)=\($1)" }) { environment in
                try check(posix_spawn(&id, path, &actions, &attributes, arguments, environment))
            }
        }
        return id
    }

    /// Blocks until the process has ended. Returns its exit code; the shell's convention, 128 and the number of the
    /// signal, for a process that a signal ended.
    package static func wait(for id: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    // MARK: glibc

    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    private typealias ChangeDirectory =
        @convention(c) (
            UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>
        ) -> Int32

    /// A function of glibc that Swift's module of it leaves out. Throws if glibc is older than 2.34, which added the
    /// last of them.
    private static func function<F>(_ name: String, as type: F.Type) throws -> F {
        guard let address = dlsym(nil, name) else { throw POSIXError(.ENOSYS) }
        return unsafeBitCast(address, to: type)
    }

    /// Throws for the result of a function that returns an error number.
    private static func check(_ code: Int32) throws {
        if code != 0 { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
    }

    /// Lends C strings, with a null pointer after the last one.
    private static func withStrings<R>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> R
    ) rethrows -> R {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return try body(copies + [nil])
    }
}
