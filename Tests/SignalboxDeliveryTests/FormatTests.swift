import CZlib
import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxStore
import SignalboxTesting
import Testing

@Suite struct FormatTests {
    @Test(arguments: try Fixture.all(in: .module))
    func writesTheExpectedMessage(_ fixture: Fixture) throws {
        let parser = JSONParser()
        let input = try parser.parse(fixture.input)
        let format = try Self.format(#require(input["destination"]))
        #expect(format.name.rawValue == fixture.folder)
        let leases = Self.leases(try #require(input["events"]), payload: input["payload"]?.string)
        let differences = try JSONDifference.lines(
            expected: fixture.expected, actual: Self.spelled(format, leases))
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
        try Self.record(format, leases)
    }

    @Test func everyFormatHasFixtures() throws {
        #expect(try Fixture.folders(in: .module) == Destination.Format.Name.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: try Fixture.all(in: .module))
    func isDeterministic(_ fixture: Fixture) throws {
        let parser = JSONParser()
        let input = try parser.parse(fixture.input)
        let format = try Self.format(#require(input["destination"]))
        let leases = Self.leases(try #require(input["events"]), payload: input["payload"]?.string)
        #expect(Self.spelled(format, leases) == Self.spelled(format, leases))
    }

    @Test func gzipIsReversible() throws {
        for body in ["", "a", String(repeating: "push ", count: 100_000)].map({ Array($0.utf8) }) {
            #expect(try gunzip(gzip(body)) == body)
            #expect(gzip(body) == gzip(body))
        }
    }

    private func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        try #require(sb_inflate_init(stream, 15 + 16) == Z_OK)
        defer { inflateEnd(stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: 1 << 20)
        let status = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                return inflate(stream, Z_FINISH)
            }
        }
        #expect(status == Z_STREAM_END)
        return Array(output.prefix(Int(stream.pointee.total_out)))
    }

    /// The format that a config with these settings of a destination has.
    static func format(_ settings: JSONValue) throws -> Destination.Format {
        var config = JSONWriter()
        config.beginObject()
        config.key("destinations")
        config.beginObject()
        config.key("hook")
        config.beginObject()
        config.key("url")
        config.string("https://hook.example/")
        config.key("secret")
        config.string("env:SECRET")
        for (key, value) in settings.members {
            config.key(utf8: key)
            config.value(value)
        }
        config.endObject()
        config.endObject()
        config.endObject()
        let destination = try #require(try RoutedConfig(config.bytes).config.destinations.first)
        guard case .webhook(let webhook) = destination.endpoint else { throw CocoaError(.coderInvalidValue) }
        return webhook.format
    }

    private static func leases(_ events: JSONValue, payload: String?) -> [Lease] {
        events.elements.enumerated().map { number, event in
            Lease(
                delivery: Int64(number), event: event["id"]?.string ?? "", destination: DestinationName("hook"),
                attempts: 0, body: JSONText(event).bytes, payload: payload.map { Array($0.utf8) })
        }
    }

    private static func record(_ format: Destination.Format, _ leases: [Lease]) throws {
        guard let message = try? MessageWriter(format).message(for: leases) else { return }
        var headers = message.headers.map { (name: $0.name, value: $0.value) }
        if let contentType = message.contentType { headers.append(("content-type", contentType)) }
        try MessageRecorder.record(
            format: format.name.rawValue, headers: headers, body: message.body, events: leases.map(\.body))
    }

    private static func spelled(_ format: Destination.Format, _ leases: [Lease]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        do throws(UnwritableMessage) {
            let message = try MessageWriter(format).message(for: leases)
            json.key("contentType")
            if let contentType = message.contentType { json.string(contentType) } else { json.null() }
            json.key("headers")
            json.beginObject()
            for header in message.headers {
                json.key(header.name)
                json.string(header.value)
            }
            json.endObject()
            json.key("body")
            json.string(String(decoding: message.body, as: UTF8.self))
        } catch {
            json.key("unwritable")
            json.string(error.description)
        }
        json.endObject()
        return json.bytes
    }
}
