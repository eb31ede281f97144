import Foundation

/// `normalize` and `replay` as whole processes, compared with the scripts that people would write instead.
struct CommandBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    private static let count = 200_000
    private static let script = """
        import sys, orjson
        out = sys.stdout.buffer
        for line in open(sys.argv[1], "rb"):
            payload = orjson.loads(line)
            out.write(orjson.dumps([payload.get("aps"), payload.get("data")]) + b"\\n")
        """

    func run() throws {
        let input = workspace.file("mixed.ndjson")
        let longer = workspace.file("longer.ndjson")
        try payloads.writeNDJSON(Self.count, to: input)
        try payloads.writeNDJSON(Self.count * 4, to: longer)
        let script = try workspace.write(Self.script, to: "project.py")
        let python = ProcessInfo.processInfo.environment["SIGNALBOX_BENCH_PYTHON"] ?? "python3"
        table.section("Whole processes, \(Self.count) payloads, output thrown away (medians of 5, in turn)")
        var ours: [Usage] = []
        var jq: [Usage] = []
        var orjson: [Usage] = []
        for _ in 0..<5 {
            ours.append(try Usage.of([binary, "normalize", input]))
            jq.append(try Usage.of(["jq", "-c", "[.aps, .data]", input]))
            orjson.append(try Usage.of([python, script, input]))
        }
        let time = median(ours.map(\.wall))
        report("signalbox normalize (whole events)", ours)
        report("jq -c, two fields", jq)
        report("Python orjson, two fields", orjson)
        table.row("normalize against jq", "\((median(jq.map(\.wall)) / time).readable) times as fast")
        table.row("normalize against orjson", "\((median(orjson.map(\.wall)) / time).readable) times as fast")
        try replay(input, beside: ours)
        let long = try Usage.of([binary, "normalize", longer])
        table.row(
            "peak memory, input 4 times as long",
            "\(Int(median(ours.map(\.peakMB)))) MB, \(Int(long.peakMB)) MB")
    }

    private static let config = """
        { "destinations": { "crm": { "url": "https://192.0.2.1/", "secret": "env:BENCH_SECRET" } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
        """

    /// Decisions only, and into a queue, where every event has a delivery to a destination that is paused.
    private func replay(_ input: String, beside normalize: [Usage]) throws {
        let config = try workspace.write(Self.config, to: "replay.json")
        let nothing = try workspace.write("", to: "nothing.ndjson")
        setenv("BENCH_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1)
        var decided: [Usage] = []
        var kept: [Usage] = []
        for turn in 0..<5 {
            let options = ["--quiet", "--config", config, "--data-dir", workspace.file("replay-\(turn)")]
            decided.append(try Usage.of([binary, "replay", "--dry-run", input] + options))
            _ = try Usage.of([binary, "replay", nothing] + options)
            _ = try Usage.of([binary, "destinations", "pause", "crm"] + options.dropFirst())
            // It says that deliveries wait.
            kept.append(try Usage.of([binary, "replay", input] + options, endingWith: 1))
        }
        report("signalbox replay --dry-run", decided)
        let share = median(normalize.map(\.wall)) / median(decided.map(\.wall))
        table.row("replay --dry-run against normalize", "\(share.readable) times as fast")
        report("signalbox replay, into SQLite", kept)
        let rate = Double(Self.count) / median(kept.map(\.wall))
        let part = median(normalize.map(\.wall)) / median(kept.map(\.wall))
        table.row(
            "replay, into SQLite", "\(rate.readable) events a second, \(part.readable) of normalize (at least 0.25)")
    }

    private func report(_ what: String, _ usages: [Usage]) {
        table.row(
            what,
            "\(median(usages.map(\.wall)).readable) s wall, \(median(usages.map(\.cpu)).readable) s CPU, \(Int(median(usages.map(\.peakMB)))) MB"
        )
    }
}

/// Time and memory of one process, as the kernel reports them.
struct Usage {
    let wall: Double
    let cpu: Double
    let peakMB: Double

    /// Runs a command to its end and discards its output. `code`: the exit code that it must end with.
    static func of(_ command: [String], endingWith code: Int32 = 0) throws -> Usage {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var arguments = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let clock = ContinuousClock()
        let start = clock.now
        guard posix_spawnp(&process, command[0], &actions, nil, &arguments, environ) == 0 else {
            throw MissingProgram(name: command[0])
        }
        var status: Int32 = 0
        var usage = rusage()
        wait4(process, &status, 0, &usage)
        guard status == code << 8 else { throw FailedProgram(command: command, status: status) }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return Usage(
            wall: (clock.now - start) / .seconds(1), cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            peakMB: Double(usage.ru_maxrss) / 1024)
    }
}

struct MissingProgram: Error { let name: String }

struct FailedProgram: Error {
    let command: [String]
    let status: Int32
}
