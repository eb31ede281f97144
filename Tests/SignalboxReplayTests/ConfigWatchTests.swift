import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct ConfigWatchTests {
    /// A gateway with a large queue needs seconds between the reading of its config and the start of the watch.
    @Test func noticesAChangeBeforeItsStart() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/routes.json"
            try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
            let origin = GatewayConfig.Origin(files: [path], folder: nil, digest: "")
            let loaded = FileStamps(of: origin)
            try Data(#"{"routes":[]}"#.utf8).write(to: URL(fileURLWithPath: path))
            let (reloads, reload) = AsyncStream.makeStream(of: Void.self)
            let watch = ConfigWatch(loaded: loaded, origin: { origin }, clock: JumpingClock()) { reload.yield() }
            await withThrowingTaskGroup { group in
                group.addTask { try await watch.run() }
                var iterator = reloads.makeAsyncIterator()
                #expect(await iterator.next() != nil)
                group.cancelAll()
            }
        }
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// A config that was rejected because of a template becomes valid when only the template changes.
    @Test func noticesAChangeOfAFileThatTheNewestConfigNames() async throws {
        try await withTemporaryDirectory { directory in
            let (own, template) = (directory + "/routes.json", directory + "/crm.mustache")
            try Self.write("{}", to: own)
            try Self.write("{{", to: template)
            let active = FileStamps(of: .init(files: [own]))
            let newest = GatewayConfig.Origin(files: [own, template])
            var changes = ConfigChanges(active)
            changes.rebase(FileStamps(of: newest).keeping(changes.loaded))
            let pollsBefore = [changes.settled(FileStamps(of: newest)), changes.settled(FileStamps(of: newest))]
            #expect(pollsBefore == [false, false])
            try Self.write("{{name}}", to: template)
            let changed = FileStamps(of: newest)
            let polls = [changes.settled(changed), changes.settled(changed)]
            #expect(polls == [false, true])
        }
    }

    /// A reload that names further files is not followed by another one.
    @Test func keepsAChangeThatHappenedBeforeTheFilesWereAdded() async throws {
        try await withTemporaryDirectory { directory in
            let (own, template) = (directory + "/routes.json", directory + "/crm.mustache")
            try Self.write("{}", to: own)
            var changes = ConfigChanges(FileStamps(of: .init(files: [own])))
            try Self.write("{ }", to: own)
            try Self.write("{{name}}", to: template)
            let newest = GatewayConfig.Origin(files: [own, template])
            changes.rebase(FileStamps(of: newest).keeping(changes.loaded))
            let stamps = FileStamps(of: newest)
            let polls = [changes.settled(stamps), changes.settled(stamps)]
            #expect(polls == [false, true], "The change of the config is still a change.")
            let isRepeated = changes.settled(stamps)
            #expect(!isRepeated)
        }
    }

    /// SIGHUP right after a change: the poll sees the change after the reload.
    @Test func aChangeThatAReloadHasReadIsNoLongerOne() {
        var changes = ConfigChanges("old")
        let pollBefore = changes.settled("new")
        changes.rebase("new")
        let polls = ["new", "new", "newer", "newer"].map { changes.settled($0) }
        #expect(!pollBefore)
        #expect(polls == [false, false, false, true])
    }

    @Test func noticesAFileThatLeftTheFolder() async throws {
        try await withTemporaryDirectory { directory in
            let part = directory + "/routes.d/crm.json"
            try FileManager.default.createDirectory(
                atPath: directory + "/routes.d", withIntermediateDirectories: false)
            try Self.write("{}", to: part)
            let folder = directory + "/routes.d"
            var changes = ConfigChanges(FileStamps(of: .init(files: [part], folder: folder)))
            try FileManager.default.removeItem(atPath: part)
            let newest = GatewayConfig.Origin(files: [], folder: folder)
            changes.rebase(FileStamps(of: newest).keeping(changes.loaded))
            let stamps = FileStamps(of: newest)
            let polls = [changes.settled(stamps), changes.settled(stamps)]
            #expect(polls == [false, true])
        }
    }

    /// The config is rejected while it is there.
    @Test func noticesThatAFileInPlaceOfTheFolderIsGone() async throws {
        try await withTemporaryDirectory { directory in
            let origin = GatewayConfig.Origin(files: [], folder: directory + "/routes.d")
            try Self.write("{}", to: directory + "/routes.d")
            var changes = ConfigChanges(FileStamps(of: origin))
            try FileManager.default.removeItem(atPath: directory + "/routes.d")
            let stamps = FileStamps(of: origin)
            let polls = [changes.settled(stamps), changes.settled(stamps), changes.settled(stamps)]
            #expect(polls == [false, true, false])
        }
    }

    /// The digest of the config changes with each reload, so the poll after a reload compares other files.
    @Test func noticesAFileThatCameIntoTheFolderAfterAReload() async throws {
        try await withTemporaryDirectory { directory in
            let (own, folder) = (directory + "/routes.json", directory + "/routes.d")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try Self.write("{}", to: own)
            var changes = ConfigChanges(FileStamps(of: .init(files: [own], folder: folder)))
            try Self.write("{}", to: folder + "/crm.json")
            let newest = GatewayConfig.Origin(files: [own], folder: folder)
            changes.rebase(FileStamps(of: newest).keeping(changes.loaded))
            let stamps = FileStamps(of: newest)
            let polls = [changes.settled(stamps), changes.settled(stamps), changes.settled(stamps)]
            #expect(polls == [false, true, false])
        }
    }
}
