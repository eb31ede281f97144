import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// `replay --to`: replays into a running gateway.
@Suite(.timeLimit(.minutes(15))) struct ReplayUploadTests {
    private static let sources =
        #""sources": { "shop": { "auth": { "bearer": ["env:SHOP_TOKEN"] } }, "other": { "auth": { "bearer": ["env:OTHER_TOKEN"] } } },"#
    private static let tokens = ["SHOP_TOKEN": "of-the-shop", "OTHER_TOKEN": "of-another"]

    private func replay(
        _ arguments: [String], to gateway: Gateway, input: Data, environment: [String: String] = tokens
    ) async throws -> BuiltBinary.Result {
        try await binary.run(
            ["replay", "--to", gateway.url] + arguments, input: input, in: NSTemporaryDirectory(),
            environment: environment)
    }

    @Test func everythingArrivesAndIsCounted() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let result = try await replay([], to: gateway, input: try mixedPayloads())
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("synerise  everything  2"))
            #expect(result.errors.contains("8 events, 0 rejected"))
            let messages = await receiver.next(8)
            #expect(Set(messages.map(\.id)).count == 8)
        }
    }

    @Test func aTokenNamesItsSource() async throws {
        try await Gateway.run(config: Self.sources, environment: Self.tokens) { gateway, receiver, _ in
            let payload = Data(#"{"aps":{"alert":"x"}}"#.utf8)
            let arguments = ["--token", "env:SHOP_TOKEN"]
            #expect(try await replay(arguments, to: gateway, input: payload).status == 0)
            #expect(try await replay(arguments + ["--source", "shop"], to: gateway, input: payload).status == 0)
            for message in await receiver.next(2) {
                #expect(String(decoding: message.body, as: UTF8.self).contains(#""/signalbox/test/shop""#))
            }
            let wrong = try await replay(arguments + ["--source", "other"], to: gateway, input: payload)
            #expect(wrong.status == 2)
            #expect(wrong.errors.contains("The gateway answered 401"))
            let none = try await replay(["--token", "env:NO_SUCH"], to: gateway, input: payload)
            #expect(none.status == 2)
            #expect(none.errors.contains("--token: the environment variable NO_SUCH is not set"))
            #expect(!wrong.errors.contains("of-the-shop"))
        }
    }

    @Test func listsRejectionsOfClientAndGateway() async throws {
        try await Gateway.run { gateway, receiver, directory in
            let good = #"{"aps":{"alert":"x"}}"#
            try Data("\(good)\nnope\n[1]\n\(good)\n".utf8).write(to: URL(fileURLWithPath: directory + "/input"))
            let result = try await replay(
                [directory + "/input", "--rejects", directory + "/rejects"], to: gateway, input: Data())
            #expect(result.status == 1)
            #expect(result.errors.contains("2 events, 2 rejected"))
            let rejects = try String(contentsOfFile: directory + "/rejects", encoding: .utf8).split(separator: "\n")
            #expect(rejects.first?.contains(#"{"line":2,"offset":22,"code":"payload-not-json""#) == true)
            #expect(rejects.last?.contains(#"{"line":3,"offset":27,"code":"payload-not-an-object""#) == true)
            #expect(rejects.count == 2)
            _ = await receiver.next(2)
        }
    }

    @Test func sendsOnlySelectedPayloads() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let result = try await replay(
                ["--vendor", "braze", "--vendor", "mce", "--limit", "2"], to: gateway, input: try mixedPayloads())
            #expect(result.status == 0)
            #expect(result.errors.contains("2 events, 0 rejected"))
            let messages = await receiver.next(2)
            #expect(messages.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains(#""subject":"braze/"#) })
        }
    }

    @Test func rejectsServersThatAreNotGateways() async throws {
        try await ReceivingServer.run { receiver in
            let result = try await binary.run(
                ["replay", "--to", "http://\(receiver.address)"], input: try mixedPayloads(),
                in: NSTemporaryDirectory())
            #expect(result.status == 2)
            #expect(result.errors.contains("The server answered 204, but not as a Signalbox gateway does"))
        }
    }

    /// A gateway that rejects every request for now: the run retries, and ^C ends it cleanly.
    @Test func endsInOrderOnControlC() async throws {
        try await ReceivingServer.run(answer: { _ in 503 }) { receiver in
            let replay = try binary.start(
                ["replay", "--to", "http://\(receiver.address)"], in: NSTemporaryDirectory())
            replay.send(Data(#"{"aps":{}}"#.utf8))
            _ = await receiver.next()
            replay.signal(SIGINT)
            #expect(await replay.end() == 130)
            #expect(await replay.errors.text().contains("0 events, 0 rejected"))
        }
    }

    @Test func anInputThatStallsCanBeInterrupted() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let replay = try binary.start(["replay", "--to", gateway.url], in: NSTemporaryDirectory())
            replay.send(Data(String(repeating: #"{"aps":{}}"# + "\n", count: 3).utf8), andClose: false)
            _ = await receiver.next(2)
            replay.signal(SIGINT)
            #expect(await replay.end() == 130)
        }
    }
}
