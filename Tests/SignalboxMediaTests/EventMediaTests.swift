import SignalboxJSON
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct EventMediaTests {
    /// Messages of warnings are for people and may change.
    @Test(arguments: try Fixture.all(in: .module, folder: "events"))
    func fillsInTheDownloads(_ fixture: Fixture) throws {
        let parser = JSONParser()
        let setting = try parser.parse(fixture.input)
        let event = try #require(setting["event"].flatMap { EventDocument(JSONText($0).bytes) })
        let media = EventMedia(states: try states(setting["media"])) { "https://gateway.example/media/\($0.sha256)" }
        let filled = media.filled(event)
        EventRecorder.record(filled)
        let differences = try JSONDifference.lines(expected: fixture.expected, actual: filled, optional: ["message"])
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    private func states(_ value: JSONValue?) throws -> ExactTextMap<MediaState> {
        var states = ExactTextMap<MediaState>()
        for (key, value) in try #require(value).members {
            let url = String(decoding: key, as: UTF8.self)
            if let file = value["stored"] {
                states[url] = .stored(try self.file(file), remarks: try remarks(value["remarks"]))
            } else if let code = value["failed"]?.string {
                states[url] = .failed(MediaFailure(try #require(MediaFailure.Code(rawValue: code)), "for people"))
            } else {
                #expect(value.equals("pending"))
                states[url] = .pending
            }
        }
        return states
    }

    private func file(_ value: JSONValue) throws -> MediaFile {
        MediaFile(
            sha256: try #require(value["sha256"]?.string), bytes: Int(try #require(value["bytes"]?.integer)),
            contentType: try #require(value["contentType"]?.string), width: value["width"]?.integer.map { Int($0) },
            height: value["height"]?.integer.map { Int($0) },
            milliseconds: value["milliseconds"]?.integer.map { Int($0) })
    }

    private func remarks(_ value: JSONValue?) throws -> [MediaRemark] {
        guard let value else { return [] }
        return try value.elements.map { try #require($0.string.flatMap { MediaRemark(rawValue: $0) }) }
    }

    @Test func listsLinkedFiles() {
        let file = { MediaFile(sha256: $0, bytes: 1, contentType: "image/png") }
        let media = EventMedia(
            states: [
                "u": .stored(file("b"), remarks: []), "v": .stored(file("a"), remarks: []),
                "w": .stored(file("b"), remarks: []), "x": .pending, "y": .failed(MediaFailure(.dns, "")),
            ]) { $0.sha256 }
        #expect(media.files == ["a", "b"])
    }

    @Test func removesMediaFromEvents() throws {
        let parser = JSONParser()
        let event = try parser.parse(
            Array(
                #"{"id":"1","data":{"vendor":"mce","media":[{"url":"u"}],"carousel":{"orientation":"portrait","items":[{"caption":"c","media":0},{"url":"x"}]},"custom":{"media":1}}}"#
                    .utf8))
        #expect(
            String(decoding: event.eventWithoutMedia, as: UTF8.self)
                == #"{"id":"1","data":{"vendor":"mce","carousel":{"orientation":"portrait","items":[{"caption":"c"},{"url":"x"}]},"custom":{"media":1}}}"#
        )
    }
}
