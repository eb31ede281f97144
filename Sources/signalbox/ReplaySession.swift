import ArgumentParser
import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification

/// What all ways of replaying have in common: which run it is, how far it has come, what was counted and rejected.
///
/// A class because the parts of a run tell it one after another; only the task that replays uses it.
final class ReplaySession {
    let inputs: InputFiles
    let interruption: Interruption
    let identity: RunIdentity?
    private(set) var tally = ReplayTally()
    /// Payloads that were selected and settled.
    private(set) var taken = 0
    private var rejectList: RejectList
    private let command: Replay
    private let file: ResumeFile?
    private var state: ResumeState?
    private var restarts: [(input: Int, place: Place)] = []
    private var meter: ProgressMeter?
    private let sizes: [Int]?
    private var eventsBefore = 0
    private var progress = SettledBytes()
    private var bytesSettled = 0
    private var lastSaved: Duration
    let elapsed: @Sendable () -> Duration

    /// How often the resume file is written.
    private static let saveInterval: Duration = .milliseconds(200)

    init(_ command: Replay, interruption: Interruption) throws(ExitCode) {
        self.command = command
        self.interruption = interruption
        inputs = InputFiles(command.files) { interruption.happened }
        try inputs.check(outcome: "Nothing was replayed.")
        let start = ContinuousClock.now
        elapsed = { ContinuousClock.now - start }
        lastSaved = .zero
        file = command.resume.map { ResumeFile(path: $0) }
        state = try file.map { (file) throws(ExitCode) in try Self.state(of: command, in: file) }
        identity = state?.identity
        tally = state?.tally ?? ReplayTally()
        taken = state?.taken ?? 0
        eventsBefore = taken
        sizes = inputs.sizes
        rejectList = try RejectList(
            path: command.rejects, several: inputs.paths.count > 1, count: state?.rejected ?? 0,
            bytes: state?.rejectBytes ?? 0)
        if !command.quiet {
            meter = ProgressMeter(
                style: StandardError.canRedraw ? .terminal : .lines, totalBytes: sizes?.reduce(0, +),
                skippedBytes: skippedBytes, at: elapsed())
        }
        let begin = InputPosition(input: state?.position.input ?? 0, offset: state?.restart?.offset ?? 0)
        bytesSettled = skippedBytes
        progress = SettledBytes(from: begin, bytes: skippedBytes)
        try save(atOnce: true)
    }

    /// The state of the run that goes on, or of a new one.
    private static func state(of command: Replay, in file: ResumeFile) throws(ExitCode) -> ResumeState {
        let inputs = try command.files.map { (path) throws(ExitCode) in
            do throws(InputIdentity.Unreadable) {
                return try InputIdentity(ofFile: path)
            } catch {
                throw refuse(error.reason)
            }
        }
        let earlier: ResumeState?
        do throws(ResumeFile.Failure) {
            earlier = try file.load()
        } catch {
            throw refuse("\(error)")
        }
        guard let earlier else {
            return ResumeState(
                key: randomBytes(32), started: Date(), options: command.identifyingOptions, inputs: inputs)
        }
        if let difference = earlier.difference(options: command.identifyingOptions, inputs: inputs) {
            throw refuse(
                "\(file.path) is of another replay: \(difference). Give the same command, or remove the file to begin anew."
            )
        }
        return earlier
    }

    // MARK: Reading

    /// When the run began for the first time: what durations ago are counted from.
    var began: Date { identity?.started ?? Date() }

    /// How many payloads may be taken besides those that were.
    var room: Int { command.selection.limit.map { max(0, $0 - taken) } ?? .max }

    /// Whether all inputs are plain files, which never keep a reader waiting.
    var hasPlainInputs: Bool { sizes != nil }

    var isComplete: Bool { state?.isComplete ?? false }

    var rejected: Int { rejectList.count }

    /// A reading from where the run has come to.
    func reading() -> ParallelReading {
        let restart = state?.restart.map { Place(line: $0.line, offset: $0.offset) }
        return ParallelReading(inputs: inputs, from: state?.position ?? InputPosition(), restart: restart)
    }

    private var skippedBytes: Int {
        guard let state, let sizes else { return 0 }
        return sizes[..<min(state.position.input, sizes.count)].reduce(0, +) + (state.restart?.offset ?? 0)
    }

    /// Takes note that a block is being consumed.
    func noteReading(_ block: ParallelReading.Block) {
        if file != nil, let restart = block.restart { restarts.append((block.input, restart)) }
        let bytes = (sizes?[..<block.input].reduce(0, +) ?? 0) + block.bytesRead
        progress.read(upTo: block.end, bytes: bytes)
        showProgress()
    }

    private func showProgress() {
        let text = meter?.note(
            bytes: bytesSettled, events: taken - eventsBefore, rejected: rejectList.count, at: elapsed())
        if let text { StandardError.write(text) }
    }

    /// Waits, and says meanwhile how far the run has come. Fails when nobody wants it to go on.
    func wait(_ time: Duration) async throws {
        let end = elapsed() + time
        while end > elapsed() {
            if interruption.happened { throw ReplayEnd.interrupted }
            try await Task.sleep(for: min(end - elapsed(), .milliseconds(100)))
            showProgress()
        }
    }

    /// Runs `read` until it has read everything, or the limit is reached, or somebody interrupts it; says whether all was
    /// read that was to be.
    func untilEnd(_ read: () async throws -> Void) async throws -> Bool {
        do {
            try await read()
            return true
        } catch let end as ReplayEnd {
            return end == .limit
        } catch let code as ExitCode where code == .interrupted {
            return false
        }
    }

    // MARK: What became of payloads

    func add(_ tally: ReplayTally) {
        self.tally.add(tally)
        taken += tally.events
    }

    func add(vendor: String, routes: [String], warnings: [String], isRepeat: Bool = false) {
        tally.add(vendor: vendor, routes: routes, warnings: warnings, isRepeat: isRepeat)
        taken += 1
    }

    /// Of a payload that was selected, in the gateway's words.
    func add(_ code: String, _ message: String, at place: Place, of input: Int) throws(ExitCode) {
        taken += 1
        try rejectList.add(code, message, at: place, in: inputs.name(of: input))
    }

    func add(_ rejection: Rejection, of input: Int) throws(ExitCode) {
        try rejectList.add(rejection, in: inputs.name(of: input))
    }

    /// Takes note that all before a position is durable, and says so in the resume file every so often.
    func reached(_ position: InputPosition) throws(ExitCode) {
        bytesSettled = max(bytesSettled, progress.settle(upTo: position))
        showProgress()
        guard var state, position > state.position else { return }
        if position.input != state.position.input { state.restart = nil }
        state.position = position
        while let next = restarts.first,
            (next.input, next.place.offset) <= (position.input, position.offset)
        {
            restarts.removeFirst()
            guard next.input == position.input else { continue }
            state.restart = .init(line: next.place.line, offset: next.place.offset)
        }
        self.state = state
        try save()
    }

    /// `atOnce`: however short ago it was saved.
    private func save(atOnce: Bool = false) throws(ExitCode) {
        guard let file, var state else { return }
        guard atOnce || elapsed() - lastSaved >= Self.saveInterval else { return }
        lastSaved = elapsed()
        state.tally = tally
        state.taken = taken
        state.rejected = rejectList.count
        state.rejectBytes = rejectList.bytes
        self.state = state
        try rejectList.sync()
        do throws(ResumeFile.Failure) {
            try file.save(state)
        } catch {
            throw refuse("\(error)")
        }
    }

    // MARK: The end

    /// Puts how far it has come on disk. `isComplete`: whether all was read.
    func end(isComplete: Bool) throws(ExitCode) {
        if isComplete { state?.isComplete = true }
        try save(atOnce: true)
        if let text = meter?.end { StandardError.write(text) }
    }

    /// Prints the tables. `more`: what stands below them.
    func report(_ more: String = "") {
        let json = command.json
        let text =
            json
            ? String(decoding: tally.json(rejected: rejectList.count), as: UTF8.self)
            : tally.table(rejected: rejectList.count)
        StandardError.write(text + more)
    }
}

/// Why a replay ends before its input does.
enum ReplayEnd: Error { case limit, interrupted }
