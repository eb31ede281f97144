/// Metrics of the process, with the names of Prometheus' client libraries.
extension Metric {
    /// The build, and the resources of the process as Linux counts them. A value that cannot be read is missing.
    static let process: [Metric] = [
        Metric("signalbox_build_info", .info, ["version"], "1, with the version of the program.") {
            [([$0.version], 1)]
        },
        read("process_cpu_seconds_total", .counter, "Processor time of the process, in seconds.") { $0.cpuSeconds },
        read("process_resident_memory_bytes", .gauge, "Resident memory, in bytes.") { $0.residentBytes },
        read("process_virtual_memory_bytes", .gauge, "Virtual memory, in bytes.") { $0.virtualBytes },
        read("process_open_fds", .gauge, "Open file descriptors.") { $0.openFiles },
        read("process_max_fds", .gauge, "The limit on open file descriptors.") { $0.mostFiles },
        read("process_start_time_seconds", .gauge, "Unix time when the process started.") { $0.startTime },
        read("process_threads", .gauge, "Threads.") { $0.threads },
    ]

    /// Without a sample for a value that the system does not tell.
    private static func read(
        _ name: String, _ kind: Kind, _ help: String, _ value: @escaping @Sendable (ProcessValues) -> Double?
    ) -> Metric {
        Metric(name, kind, [], help) { values in value(values.process).map { [([], $0)] } ?? [] }
    }
}
