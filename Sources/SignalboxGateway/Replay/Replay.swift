package import Foundation
import SignalboxConfig
import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting

/// The options of one replay: recorded payloads are read again and sent through the pipeline.
///
/// The flow, in the order of the calls: ``InputFiles`` opens and decompresses the inputs. ``ParallelReading`` cuts
/// them into blocks and reads the blocks on all cores. ``Recording`` turns a block into events or payloads and
/// applies the ``Selection``. One of three targets consumes the results in the order of the input: ``QueueReplay``
/// appends events to the durable queue, ``GatewayReplay`` posts payloads to a running gateway, ``DryRun`` prints
/// decisions. In all three, a ``ReplaySession`` counts, lists rejections, and records progress in the resume file.
/// The values are those of the command line; they have not been checked against the config or the disk yet.
package struct ReplayOptions: Sendable {
    /// Input files; empty, or `-`, for standard input.
    package var files: [String] = []
    /// The source of all payloads; nil for the default, or for the source of the token of an upload.
    package var source: SourceName?
    /// Positions of payload, time and token in each recorded text.
    package var envelope = RecordedEnvelope()
    /// The payloads to replay.
    package var selection = SelectionRequest()
    /// The address of a running gateway, as it was typed.
    package var address: String?
    /// The option that chooses the queue of the run, and its value; nil with ``address``, and before it is known.
    package var queue: (option: String, value: String)?
    /// Requests in flight at the same time, to a running gateway.
    package var connections = 8
    /// Print decisions; store and send no event.
    package var isDryRun = false
    /// Apply the failure rules of the config.
    package var appliesFailures = false
    /// Events per second.
    package var rate: Double?
    /// Multiple of the recorded pace.
    package var speed: Double?
    /// Path of the resume file.
    package var resume: String?
    /// Path of the file of rejections.
    package var rejects: String?
    /// Decisions and tables as JSON.
    package var printsJSON = false
    /// The progress on the diagnostics.
    package var showsProgress = true

    /// Replays standard input into the queue, without limits.
    package init() {}

    /// Why these options cannot be combined, as one sentence; nil if they can. `config`: path of the config.
    /// `hasDataDirectory`: whether the command line names a data directory. Checks only combinations; the values are
    /// checked when they are read. Called before any file is opened. Opens no file, but looks up the identity of
    /// those that are named.
    package func conflict(config: String, hasDataDirectory: Bool) -> String? {
        if let sentence = pacingConflict ?? uploadConflict(hasDataDirectory) { return sentence }
        if let resume {
            if let rejects, FileIdentity(resume) == FileIdentity(rejects) {
                return "--resume and --rejects name the same file."
            }
        }
        for (option, path) in [("--resume", resume), ("--rejects", rejects)] {
            guard let path else { continue }
            if let sentence = FileIdentity.conflict(of: option, path, inputs: files, config: config) { return sentence }
        }
        return nil
    }

    /// Refuses inputs that are missing, not readable or directories. Opens none. Throws ``ReplayError/refused(_:)``.
    package func checkInputs() throws(ReplayError) { try InputFiles(files).check(outcome: "No payload was replayed.") }

    /// A line for people about a part of the config that the run does not apply, with its line end; nil for none.
    package func note(on config: RoutedConfig) -> String? {
        guard !appliesFailures, showsProgress, address == nil, !config.failures.isEmpty else { return nil }
        return "signalbox: the failure rules of the config are not applied; --failures applies them.\n"
    }

    /// Options that need recorded times, and options that a dry run cannot have.
    private var pacingConflict: String? {
        if envelope.time == nil {
            let timed = [
                ("--speed", speed != nil), ("--since", selection.since != nil), ("--until", selection.until != nil),
            ]
            if let (name, _) = timed.first(where: \.1) {
                return "\(name) needs recorded times: name their position with --time-at."
            }
        }
        let sending = [
            ("--to", address != nil), ("--resume", resume != nil), ("--rate", rate != nil), ("--speed", speed != nil),
        ]
        if isDryRun, let (name, _) = sending.first(where: \.1) {
            return "\(name) applies to sending, and --dry-run sends no events: leave one of them out."
        }
        return nil
    }

    /// Options that apply only to a replay into the queue.
    private func uploadConflict(_ hasDataDirectory: Bool) -> String? {
        guard address != nil else { return nil }
        if envelope.token != nil {
            return """
                --token-at cannot be combined with --to: payloads are sent unchanged, without a device token next to \
                them; the gateway hashes the tokens inside them. Leave it out, or stop the gateway and replay into its \
                queue, without --to.
                """
        }
        if appliesFailures {
            return """
                --failures cannot be combined with --to: payloads do not pass through the provider endpoints of that \
                gateway. Replay into the queue, or with --dry-run.
                """
        }
        return hasDataDirectory ? "--data-dir cannot be combined with --to: that gateway has its own." : nil
    }

    /// The options that decide which events are made and how requests are cut: a resumed run must have the same.
    /// Values are texts as they were typed. Options without effect on the events, such as the progress, are not among
    /// them.
    package var identity: [String: String] {
        var options: [String: String] = [:]
        options["payload-at"] = envelope.payload?.text
        options["time-at"] = envelope.time?.text
        options["token-at"] = envelope.token?.text
        options["vendor"] = selection.vendors.isEmpty ? nil : Set(selection.vendors).sorted().joined(separator: ", ")
        options["filter"] = selection.filter
        options["since"] = selection.since
        options["until"] = selection.until
        options["limit"] = selection.limit.map(String.init)
        options["source"] = source?.name
        options["to"] = address
        // Another queue lacks the events that this run has appended.
        if let queue { options[queue.option] = queue.value }
        options["rejects"] = rejects
        options["failures"] = appliesFailures ? "given" : nil
        if address != nil {
            // They decide how many payloads share a request.
            options["rate"] = rate.map { "\($0)" }
            options["speed"] = speed.map { "\($0)" }
        }
        return options
    }
}

/// Why a run over recorded payloads ends before its input. `refused` and `damaged` hold text for the operator.
/// `signalbox` turns it into an exit code; see `Failure.swift`.
package enum ReplayError: Error, Sendable, Equatable {
    /// ^C: settled payloads count.
    case interrupted
    /// The limit of events is reached: the run is complete.
    case limitReached
    /// An input cannot be decompressed to its end; everything before the damage counts. One sentence.
    case damaged(String)
    /// The run cannot begin or continue. One sentence.
    case refused(String)

    /// A refusal with the system's reason, read from `errno`.
    static func failed(_ what: String) -> ReplayError { .refused("\(what): \(String(cString: strerror(errno))).") }
}

/// The output of a run's diagnostics, usually standard error. A closure, so that tests can read the output. Never
/// carries results, so a redirected standard output stays clean.
package struct Diagnostics: Sendable {
    /// Writes text, line ends included.
    package let write: @Sendable (String) -> Void
    /// True on a terminal that can redraw a line.
    package let canRedraw: Bool

    /// `write` is called from one task at a time.
    package init(canRedraw: Bool = false, write: @escaping @Sendable (String) -> Void) {
        (self.write, self.canRedraw) = (write, canRedraw)
    }

    /// Writes a line, over a progress line if there is one. Adds the line end. The progress line appears again with
    /// its next update.
    package func writeLine(_ text: String) { write((canRedraw ? "\r\u{1B}[K" : "") + text + "\n") }
}

/// Numbers and times as the command line of a replay spells them. The commands parse their options with it.
package enum ReplayText {
    /// Events a second of `200/s`, `60/m` or `1000/h`; nil for any other text. The count is from 0.001 to 1,000,000.
    /// The unit is required.
    package static func rate(_ text: String) -> Double? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let units: [Substring: Double] = ["s": 1, "m": 60, "h": 3600]
        guard parts.count == 2, let unit = units[parts[1]], let count = Double(parts[0]), count.isFinite,
            (0.001...1_000_000).contains(count)
        else { return nil }
        return count / unit
    }

    /// The factor of `10` or `2.5x`; nil for any other text. The factor is from 0.001 to 1,000,000.
    package static func speed(_ text: String) -> Double? {
        let number = text.last == "x" ? String(text.dropLast()) : text
        guard let speed = Double(number), speed.isFinite, (0.001...1_000_000).contains(speed) else { return nil }
        return speed
    }

    /// The instant of an RFC 3339 time, or of an age such as `24h` before `now`; nil for any other text. An age
    /// counts back from `now`. A date without a time is not accepted.
    package static func moment(_ text: String, now: Date) -> Timestamp? {
        var utf8 = text
        if let time = utf8.withUTF8({ Timestamp(iso8601: $0) }) { return time }
        guard let ago = Duration(text: text) else { return nil }
        return Timestamp(now.addingTimeInterval(-(ago / .seconds(1))))
    }
}
