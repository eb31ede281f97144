import Foundation
import SignalboxEgress
import SignalboxNotification

/// The state that every kind of replay shares: identity of the run, progress, counts and rejections.
///
/// A class because the parts of a run update it in turn. Only the task that replays uses it.
package final class ReplaySession {
    /// Read once, from the checkpoint on.
    let inputs: InputFiles
    /// Checked between payloads.
    let interruption: Interruption
    /// Makes ids that a repeated run makes again; nil without a resume file.
    let identity: RunIdentity?
    /// Counts of the whole run, earlier processes included.
    private(set) var tally = ReplayTally()
    /// Payloads that were selected and settled.
    private(set) var settled = 0
    /// The counters of failure rules, earlier processes included.
    var failureCounts: [String: FailureDecider.Counts] = [:]
    /// Time since any start.
    let elapsed: @Sendable () -> Duration
    /// Shared by the workers of the run.
    let wrapped = WrappedPayloads()
    private var rejections: RejectList
    private let options: ReplayOptions
    private let diagnostics: Diagnostics
    /// Nil without `--resume`.
    private let file: ResumeFile?
    /// The content of the file at its next write.
    private var state: ResumeState?
    /// Nil unless standard input is read in a run with a resume file.
    private let head: StreamHead?
    /// Nil if no progress is shown.
    private var meter: ProgressMeter?
    /// Bytes of each input as stored; nil unless all of them are regular files.
    private let sizes: [Int]?
    /// Whether an earlier process began the run. It may have appended more than it recorded.
    let continues: Bool
    /// Payloads that earlier processes of the run settled.
    private let settledBefore: Int
    /// Bytes of a file for each byte of its text, in the input that is being read: less than 1 if it is compressed.
    private var density = 1.0
    /// Position in all files, compressed as stored, for the progress.
    private var bytesSettled: Int
    /// Decompressed bytes of the first input that an earlier process settled; 0 once the progress includes them.
    private var skippedText: Int
    /// When the file was written last.
    private var lastSaved: Duration = .zero

    /// How often the resume file is written.
    private static let saveInterval: Duration = .milliseconds(200)

    /// Opens the files of a run. Throws ``ReplayError/refused(_:)`` if one of them cannot be used. Saves the resume
    /// file at once, so that a run that is killed early keeps its identity. Inputs that are missing or directories
    /// are refused before anything is written. A run whose file says that it is complete reads no input,
    /// and says so.
    package init(_ options: ReplayOptions, interruption: Interruption, diagnostics: Diagnostics) throws(ReplayError) {
        (self.options, self.interruption, self.diagnostics) = (options, interruption, diagnostics)
        inputs = InputFiles(options.files) { interruption.happened }
        try options.checkInputs()
        let start = ContinuousClock.now
        elapsed = { ContinuousClock.now - start }
        file = options.resume.map { ResumeFile(path: $0) }
        var state: ResumeState?
        if let file { state = try Self.earlier(of: options, in: file) }
        continues = state != nil
        if file != nil, state == nil { state = try Self.newState(options) }
        self.state = state
        head = state?.inputs.first { $0.name == InputIdentity.standardInput.name }.map { StreamHead(resuming: $0) }
        identity = state?.identity
        tally = state?.tally ?? ReplayTally()
        settledBefore = state?.taken ?? 0
        settled = settledBefore
        failureCounts = state?.failures ?? [:]
        sizes = inputs.sizes
        rejections = try RejectList(
            path: options.rejects, namesInputs: inputs.paths.count > 1, count: state?.rejected ?? 0,
            bytes: state?.rejectBytes ?? 0, diagnostics: diagnostics)
        bytesSettled = sizes?.prefix(state?.position.input ?? 0).reduce(0, +) ?? 0
        skippedText = state?.position.offset ?? 0
        if options.showsProgress {
            meter = ProgressMeter(
                style: diagnostics.canRedraw ? .terminal : .lines, totalBytes: sizes?.reduce(0, +),
                skippedBytes: bytesSettled, at: elapsed())
        }
        try save(atOnce: true)
        if let file, isComplete {
            diagnostics.writeLine(
                "signalbox: \(file.path): this run is complete; nothing was read. Remove the file to replay again.")
        }
    }

    private static func identities(of options: ReplayOptions) throws(ReplayError) -> [InputIdentity] {
        try InputFiles(options.files).paths.map { (path) throws(ReplayError) -> InputIdentity in
            try path == InputIdentity.standardInput.name ? .standardInput : InputIdentity(ofFile: path)
        }
    }

    /// The state of a new run.
    private static func newState(_ options: ReplayOptions) throws(ReplayError) -> ResumeState {
        ResumeState(
            key: randomBytes(32), started: Date(), options: options.identity, inputs: try identities(of: options))
    }

    /// The state of the resumed run; nil without a file. Throws ``ReplayError/refused(_:)`` if the file belongs to a
    /// run with other options or inputs.
    private static func earlier(of options: ReplayOptions, in file: ResumeFile) throws(ReplayError) -> ResumeState? {
        guard let earlier = try file.load() else { return nil }
        if let difference = earlier.difference(options: options.identity, inputs: try identities(of: options)) {
            throw .refused(
                "\(file.path) belongs to another replay: \(difference). Repeat the same command, or remove the file to "
                    + "start over.")
        }
        return earlier
    }

    // MARK: Reading

    /// When the run began for the first time: ages count from it. A resumed run has the start of the first one, so
    /// that `--since 24h` selects the same payloads.
    var began: Date { identity?.started ?? Date() }

    /// How many more payloads may be settled. The largest number without a limit. Zero if an earlier process has
    /// reached the limit.
    var room: Int { options.selection.limit.map { max(0, $0 - settled) } ?? .max }

    /// True if all inputs are regular files, which never block a read.
    var hasPlainInputs: Bool { sizes != nil }

    /// True if an earlier process finished the run; then there is nothing to read.
    var isComplete: Bool { state?.isComplete ?? false }
    /// Rejected payloads of the whole run, earlier processes included.
    package var rejected: Int { rejections.count }
    /// A new value each time, which counts from its first use.
    var pace: Pace { Pace(perSecond: options.rate, speed: options.speed) }

    /// Reads from where the run stopped.
    func reading() -> ParallelReading {
        var reading = ParallelReading(inputs: inputs, from: state?.position ?? InputPosition())
        reading.head = head
        return reading
    }

    /// Records that a block is being consumed.
    func recordReading(_ block: ParallelReading.Block) {
        density = Double(block.bytesRead) / Double(max(1, block.payloads.end))
        if skippedText > 0 {
            bytesSettled += Int(Double(skippedText) * density)
            meter?.begin(after: bytesSettled, at: elapsed())
            skippedText = 0
        }
        showProgress()
    }

    private func showProgress() {
        let text = meter?.update(
            bytes: bytesSettled, events: settled - settledBefore, rejected: rejections.count, at: elapsed())
        if let text { diagnostics.write(text) }
    }

    /// Waits and shows the progress meanwhile. Throws ``ReplayError/interrupted`` after ^C. Checks for ^C ten times a
    /// second. Returns at once for a time that is zero or negative.
    func wait(_ time: Duration) async throws {
        let end = elapsed() + time
        while end > elapsed() {
            if interruption.happened { throw ReplayError.interrupted }
            try await Task.sleep(for: min(end - elapsed(), .milliseconds(100)))
            showProgress()
        }
    }

    /// Runs `read`; returns true if it read everything up to the limit, false if ^C ended it. Other errors are thrown
    /// on.
    func untilEnd(_ read: () async throws -> Void) async throws -> Bool {
        do {
            try await read()
            return true
        } catch ReplayError.limitReached {
            return true
        } catch ReplayError.interrupted {
            return false
        }
    }

    // MARK: Results

    /// Counts the events of a dry run.
    func add(_ tally: ReplayTally) {
        self.tally.add(tally)
        settled += tally.events
    }

    /// Counts one event or payload. Call it when its result is durable.
    func add(vendor: String, routes: [String], warnings: [String], isRepeat: Bool = false) {
        tally.add(vendor: vendor, routes: routes, warnings: warnings, isRepeat: isRepeat)
        settled += 1
    }

    /// Counts a selected payload that the gateway rejected.
    func add(_ code: String, _ message: String, at place: PayloadPosition, of input: Int) throws(ReplayError) {
        settled += 1
        try rejections.add(code, message, at: place, in: inputs.name(of: input))
    }

    /// A rejection by this process is not a selected payload, so it does not count toward the limit.
    func add(_ rejection: Rejection, of input: Int) throws(ReplayError) {
        try rejections.add(rejection, in: inputs.name(of: input))
    }

    /// Records that everything before a position is durable, and saves that every 200 ms. Positions that go back are
    /// ignored. Without a resume file it only updates the progress. Called in the order of the input only. Throws
    /// ``ReplayError/refused(_:)`` if the file cannot be written.
    func reached(_ position: InputPosition) throws(ReplayError) {
        let earlier = sizes?.prefix(position.input).reduce(0, +) ?? 0
        bytesSettled = max(bytesSettled, earlier + Int(Double(position.offset) * density))
        showProgress()
        guard var state, position > state.position else { return }
        state.position = position
        self.state = state
        try save()
    }

    /// `atOnce`: ignore the interval. The rejections are on disk first. Writes at most once in each ``saveInterval``.
    private func save(atOnce: Bool = false) throws(ReplayError) {
        guard let file, var state, atOnce || elapsed() - lastSaved >= Self.saveInterval else { return }
        lastSaved = elapsed()
        state.tally = tally
        state.taken = settled
        state.rejected = rejections.count
        state.rejectBytes = rejections.bytes
        state.failures = failureCounts.isEmpty ? nil : failureCounts
        if let head, let index = state.inputs.firstIndex(where: { $0.name == InputIdentity.standardInput.name }) {
            state.inputs[index] = head.identity
        }
        self.state = state
        try rejections.sync()
        try file.save(state)
    }

    // MARK: End

    /// Saves the progress and erases the progress line. `isComplete`: everything was read. Call it once, even after an
    /// error.
    func end(isComplete: Bool) throws(ReplayError) {
        if isComplete { state?.isComplete = true }
        try save(atOnce: true)
        if let text = meter?.end { diagnostics.write(text) }
    }

    /// Writes the tables, then `more`. JSON or text, as the options say. The output goes to the diagnostics. Written
    /// once, at the end, even after an interruption.
    func report(_ more: String = "") {
        if let advice = wrapped.advice { diagnostics.writeLine(advice) }
        let count = rejections.count
        let text =
            options.printsJSON
            ? String(decoding: tally.json(rejected: count), as: UTF8.self) : tally.table(rejected: count)
        diagnostics.write(text + more)
    }
}
