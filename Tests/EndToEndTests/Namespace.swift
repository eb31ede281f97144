import SignalboxServerTesting

/// Commands that give a process its own mounts without root. Some machines do not permit them.
enum Namespace {
    static var isAllowed: Bool {
        get async {
            let result = try? await binary.run(["--version"], behind: ["unshare", "-Urm"])
            return result?.status == 0
        }
    }

    /// The data directory is empty and limited to this size.
    static func diskOf(kilobytes: Int) -> [String] { run("mount -t tmpfs -o size=\(kilobytes)k tmpfs data") }

    /// The data directory is unchanged and read-only.
    static let readOnly = run("mount --bind data data && mount -o remount,bind,ro data")

    /// `/proc` is empty.
    static let withoutProc = run("mount -t tmpfs tmpfs /proc")

    /// Host names are resolved as the working directory's `resolv.conf` specifies.
    static let nameServers = run("mount --bind resolv.conf /etc/resolv.conf")

    /// Host names are resolved by the working directory's `hosts`.
    static let hosts = run("mount --bind hosts /etc/hosts")

    /// The file system that such a process sees.
    static func of(_ process: RunningBinary) -> [String] {
        ["nsenter", "-t", "\(process.identifier)", "-U", "-m", "-w", "--preserve-credentials"]
    }

    static func path(_ path: String, of process: RunningBinary) -> String { "/proc/\(process.identifier)/root" + path }

    private static func run(_ script: String) -> [String] {
        ["unshare", "-Urm", "sh", "-c", script + #" && exec "$@""#, "sh"]
    }
}
