package import Foundation
import SignalboxEgress

/// What a resume file holds: which run it is of, over which inputs and with which options, and how far that has come. It
/// says only what is durable.
package struct ResumeState: Sendable, Equatable, Codable {
    /// Of this layout.
    package static let version = 1

    package var version = Self.version
    /// The run's key, in hexadecimal digits.
    package let run: String
    /// When the run began for the first time, in milliseconds since 1970.
    package let started: Int64
    /// What decides which events are made and how they are put into requests, by option.
    package let options: [String: String]
    package let inputs: [InputIdentity]
    package var position = InputPosition()
    /// A place at or before the position, in the same input, where reading may begin anew.
    package var restart: Restart?
    package var isComplete = false
    package var tally = ReplayTally()
    /// Payloads that were selected and settled.
    package var taken = 0
    package var rejected = 0
    /// How long the file of rejects was, in bytes.
    package var rejectBytes = 0

    package struct Restart: Sendable, Equatable, Codable {
        package let line: Int
        package let offset: Int

        package init(line: Int, offset: Int) {
            self.line = line
            self.offset = offset
        }
    }

    /// A run that begins now.
    package init(key: [UInt8], started: Date, options: [String: String], inputs: [InputIdentity]) {
        run = hexadecimal(key)
        self.started = Int64((started.timeIntervalSince1970 * 1000).rounded(.down))
        self.options = options
        self.inputs = inputs
    }

    package var identity: RunIdentity {
        RunIdentity(key: Array(run.utf8), started: Date(timeIntervalSince1970: Double(started) / 1000))
    }

    /// Why a run with these options over these inputs is not this one, as one sentence; nil when it is.
    package func difference(options: [String: String], inputs: [InputIdentity]) -> String? {
        for name in Set(self.options.keys).union(options.keys).sorted() where self.options[name] != options[name] {
            func words(_ value: String?) -> String { value.map { "was \($0)" } ?? "was not given" }
            return "--\(name) \(words(self.options[name])) when this replay began"
        }
        guard self.inputs.count == inputs.count else {
            return "it was begun with \(self.inputs.count) inputs, and now there are \(inputs.count)"
        }
        for (then, now) in zip(self.inputs, inputs) {
            if let difference = then.difference(from: now) { return "an input has changed since: \(difference)" }
        }
        return nil
    }
}
