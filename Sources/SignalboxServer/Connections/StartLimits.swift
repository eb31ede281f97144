import Foundation
import NIOCore
import SignalboxEgress

/// The limits of the system without which the gateway would crash or hang soon after its start.
package struct StartLimits: Sendable {
    /// Threads that the process must be able to start: each core has some of the runtime and of the servers.
    let threads: Int
    /// Descriptors that the process must be able to open: each thread of a server has three.
    let files: Int
    private let cores: Int

    /// `cores`: the number of cores that the process may run on; the runtime starts threads for each. `quota`: how many
    /// it may use at the same time; the servers start threads for each.
    init(cores: Int, quota: Int) {
        self.cores = cores
        threads = 16 + 2 * cores + 2 * quota
        files = max(64, 32 + 6 * quota)
    }

    /// A sentence with the limit of this process that is too low and its remedy; nil if there is none. Call it before
    /// other threads start and after ``OpenFiles/raiseLimit()``.
    package static func fault() -> String? {
        StartLimits(cores: max(runnableCores, System.coreCount), quota: System.coreCount)
            .fault(openFiles: Descriptors.currentLimit, start: start)
    }

    /// The cores that the process may run on; a quota does not reduce them. 0 if the system does not tell it. The mask
    /// of Linux may have cores that the machine does not have: those that could be added while it runs.
    private static var runnableCores: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let mask = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }?.dropFirst(13) ?? ""
        // Hexadecimal digits, with commas between groups of eight.
        return min(
            mask.reduce(0) { $0 + ($1.hexDigitValue ?? 0).nonzeroBitCount }, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    /// `openFiles`: the limit of the process; nil if it is unknown. `start`: starts this many threads at the same time
    /// and ends them; returns the error of the system.
    func fault(openFiles: Int?, start: (_ threads: Int) -> CInt) -> String? {
        if let openFiles, openFiles < files {
            return "serve needs at least \(files) open files on \(cores) cores, and the limit is \(openFiles). "
                + "Raise it with ulimit -n, or with LimitNOFILE= of the service."
        }
        let error = start(threads)
        guard error != 0 else { return nil }
        return "serve needs \(threads) threads on \(cores) cores, and the system permits fewer: "
            + "\(String(cString: strerror(error))). Raise the limit with ulimit -u, which counts all processes of the "
            + "user, with TasksMax= of the service, or with --pids-limit of the container."
    }

    /// Only an attempt shows whether the limits of the user and of all control groups permit the threads. Takes about a
    /// millisecond.
    private static func start(_ count: Int) -> CInt {
        let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        defer { gate.deallocate() }
        pthread_mutex_init(gate, nil)
        defer { pthread_mutex_destroy(gate) }
        pthread_mutex_lock(gate)
        var threads: [pthread_t] = []
        var error: CInt = 0
        while error == 0, threads.count < count {
            var thread = pthread_t()
            error = pthread_create(
                &thread, nil,
                { gate in
                    // Blocks until all threads have started.
                    let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self)
                    gate.map { _ = (pthread_mutex_lock($0), pthread_mutex_unlock($0)) }
                    return nil
                }, gate)
            if error == 0 { threads.append(thread) }
        }
        pthread_mutex_unlock(gate)
        for thread in threads { pthread_join(thread, nil) }
        return error
    }
}
