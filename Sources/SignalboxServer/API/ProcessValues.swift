import Foundation

/// The resources of this process as Linux counts them (proc(5)). A value that cannot be read is nil.
struct ProcessValues: Sendable {
    /// User and system time of all threads.
    var cpuSeconds: Double?
    /// Pages in memory times the page size (field 24 of `/proc/self/stat`).
    var residentBytes: Double?
    /// The size of the address space (field 23), in memory or not.
    var virtualBytes: Double?
    /// Descriptors of files, sockets and pipes.
    var openFiles: Double?
    /// The soft limit, which ``OpenFiles/raiseLimit()`` raises at the start.
    var mostFiles: Double?
    /// Seconds since 1970.
    var startTime: Double?
    /// The threads of event loops, of Swift's pool and of the C libraries together.
    var threads: Double?

    /// Reads some files of `/proc`, which takes less than a millisecond.
    static var current: ProcessValues {
        var values = ProcessValues(stat: text(of: "/proc/self/stat"), bootTime: bootTime)
        values.openFiles = openFiles
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            values.mostFiles = Double(limit.rlim_cur)
        }
        return values
    }

    /// `stat`: the content of `/proc/self/stat`; nil for one that cannot be read. `bootTime`: seconds since 1970. A
    /// field that is missing or is not a number leaves its value nil.
    init(stat: String?, bootTime: Double?) {
        // The name of the program is in parentheses and may contain spaces.
        guard let stat, let end = stat.lastIndex(of: ")") else { return }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        // The first field here is the third of the file.
        func field(_ number: Int) -> Double? { fields.count > number - 3 ? Double(fields[number - 3]) : nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        if let user = field(14), let system = field(15) { cpuSeconds = (user + system) / ticks }
        threads = field(20)
        if let start = field(22), let bootTime { startTime = bootTime + start / ticks }
        virtualBytes = field(23)
        residentBytes = field(24).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
    }

    /// Since version 6.2, Linux has the number in the size of the directory; otherwise the entries are counted.
    private static var openFiles: Double? {
        let path = "/proc/self/fd"
        let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
        if let size, size > 0 { return Double(size) }
        // The directory itself is open while it is read.
        return (try? FileManager.default.contentsOfDirectory(atPath: path)).map { Double($0.count - 1) }
    }

    /// The same during the life of the process.
    private static let bootTime: Double? = text(of: "/proc/stat")?.split(separator: "\n")
        .first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }

    /// Files of `/proc` have no length, so they are read to their end; at most 1 MiB.
    private static func text(of path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.read(upToCount: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }
}
