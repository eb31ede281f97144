import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct ResumeFileTests {
    private func state(options: [String: String] = [:], inputs: [InputIdentity] = []) -> ResumeState {
        ResumeState(
            key: [UInt8](repeating: 7, count: 32), started: Date(timeIntervalSince1970: 1_795_210_140.123),
            options: options, inputs: inputs)
    }

    @Test func loadsTheSavedState() async throws {
        try await withTemporaryDirectory { directory in
            let file = ResumeFile(path: directory + "/resume.json")
            #expect(try file.load() == nil)
            var state = state(options: ["limit": "3"], inputs: [InputIdentity(name: "a", size: 1, head: "b")])
            state.position = InputPosition(input: 0, offset: 77)
            state.tally.add(vendor: "mce", routes: ["a"], warnings: ["w"])
            state.rejected = 5
            try file.save(state)
            state.isComplete = true
            try file.save(state)
            #expect(try file.load() == state)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["resume.json"])
            let before = state.identity.eventID(input: 0, offset: 1, recorded: nil)
            #expect(try file.load()?.identity.eventID(input: 0, offset: 1, recorded: nil) == before)
        }
    }

    @Test func refusesAFileWithOtherContents() async throws {
        try await withTemporaryDirectory { directory in
            for text in ["", "{}", #"{"version":2}"#, "not JSON"] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/resume"))
                #expect(throws: ReplayError.self) { try ResumeFile(path: directory + "/resume").load() }
            }
            #expect(throws: ReplayError.self) {
                try ResumeFile(path: directory + "/no/such/directory").save(state())
            }
        }
    }

    @Test func namesTheReasonForAnInputThatCannotBeRead() {
        // A regular file whose beginning is not mapped.
        #expect(throws: ReplayError.refused("Cannot read /proc/self/mem: Input/output error.")) {
            try InputIdentity(ofFile: "/proc/self/mem")
        }
    }

    /// As in a file that was edited: the run would skip all inputs, or overflow.
    @Test func refusesNumbersThatNoRunWrites() async throws {
        try await withTemporaryDirectory { directory in
            let file = ResumeFile(path: directory + "/resume")
            for position in [(-1, 0), (1, 0), (0, -1), (0, Int.max)] {
                var state = state(inputs: [InputIdentity(name: "a", size: 1, head: "b")])
                state.position = InputPosition(input: position.0, offset: position.1)
                try file.save(state)
                #expect(throws: ReplayError.self, "\(position)") { try file.load() }
            }
            var large = state()
            large.taken = .max
            try file.save(large)
            #expect(throws: ReplayError.self) { try file.load() }
        }
    }

    @Test func aFileThatCannotBeFoundForAnotherReasonIsNotANewRun() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/resume"
            #expect(try ResumeFile(path: path).load() == nil)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "resume")
            let sentence =
                "Cannot read \(path): Too many levels of symbolic links. Name another file with --resume."
            #expect(throws: ReplayError.refused(sentence)) { try ResumeFile(path: path).load() }
        }
    }

    @Test func describesTheDifferenceToAnotherRun() {
        let inputs = [InputIdentity(name: "a", size: 10, head: "x"), InputIdentity(name: "b", size: 20, head: "y")]
        let begun = state(options: ["vendor": "mce", "to": "http://a"], inputs: inputs)
        let options = ["vendor": "mce", "to": "http://a"]
        #expect(begun.difference(options: options, inputs: inputs) == nil)
        #expect(
            begun.difference(options: ["to": "http://a"], inputs: inputs)
                == "--vendor was mce when this replay began")
        #expect(
            begun.difference(options: options.merging(["limit": "3"]) { $1 }, inputs: inputs)
                == "--limit was not given when this replay began")
        #expect(
            begun.difference(options: options, inputs: [inputs[0]])
                == "it began with 2 inputs, and now there are 1")
        #expect(
            begun.difference(options: options, inputs: [inputs[0], InputIdentity(name: "b", size: 21, head: "y")])
                == "an input has changed since: b had 20 bytes and has 21 now")
        #expect(
            begun.difference(options: options, inputs: [inputs[0], InputIdentity(name: "b", size: 20, head: "z")])
                == "an input has changed since: b begins with other bytes now")
        #expect(
            begun.difference(options: options, inputs: [inputs[1], inputs[0]])
                == "an input has changed since: it was a and is b now")
    }

    @Test func identifiesInputsByNameSizeAndHead() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/input"
            try Data("hello\n".utf8).write(to: URL(fileURLWithPath: path))
            let identity = try InputIdentity(ofFile: path)
            #expect(identity.size == 6)
            // printf 'hello\n' | sha256sum
            #expect(identity.head == "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03")
            #expect(throws: ReplayError.self) { try InputIdentity(ofFile: directory) }
            #expect(throws: ReplayError.self) { try InputIdentity(ofFile: path + "x") }
        }
    }
}
