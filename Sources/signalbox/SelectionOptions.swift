import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting

/// Which payloads of a recording are replayed.
struct SelectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only payloads of this vendor; may be given several times.", valueName: "name"))
    var vendor: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only events that this pattern matches, as a route's match is written: '{\"data\": {\"kind\": [\"alert\"]}}'.",
            valueName: "pattern"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "Only what was recorded then or later: RFC 3339, or so long ago, such as 24h.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only what was recorded before then, written likewise.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("Stop after so many events.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        for text in [since, until].compactMap(\.self) where ReplayText.moment(text, now: Date()) == nil {
            throw ValidationError("\(text) is no time: write RFC 3339, 2026-11-20T21:29:00Z, or a duration ago, 24h.")
        }
        let now = Date()
        if let since = since.flatMap({ ReplayText.moment($0, now: now) }),
            let until = until.flatMap({ ReplayText.moment($0, now: now) }), since >= until
        {
            throw ValidationError(
                "--since is not before --until, which leaves nothing: what is replayed was recorded between them.")
        }
        if let limit, limit < 1 { throw ValidationError("--limit \(limit) leaves nothing; it is 1 at least.") }
        if let filter { _ = try Self.pattern(filter) }
    }

    /// Says on standard error which vendor nobody can be under a config: a slip would leave nothing without a word.
    func checkVendors(_ config: GatewayConfig) throws(ExitCode) {
        guard !vendor.isEmpty else { return }
        let chain = try orRefuse { () throws(ConfigRefusal) in try ConfigFile.chain(config) }
        let recognised = chain.links.flatMap(\.profiles).map(\.vendor) + config.sourceVendors.values
        let known = Set(recognised.map(\.name) + [VendorID.unknown.name])
        guard let stranger = vendor.first(where: { !known.contains($0) }) else { return }
        let near = known.first { $0 == stranger.lowercased() }
        throw refuse(
            "--vendor \(stranger) is nobody who is recognised; "
                + (near.map { "did you mean \($0)?" } ?? "signalbox vendors lists who is."))
    }

    /// `now`: what durations are counted from.
    func selection(now: Date) throws -> Selection {
        Selection(
            since: since.flatMap { ReplayText.moment($0, now: now) },
            until: until.flatMap { ReplayText.moment($0, now: now) },
            vendors: Set(vendor), filter: try filter.map { try Self.pattern($0) })
    }

    private static func pattern(_ text: String) throws -> Pattern {
        do throws(InvalidConfig) {
            return try Pattern(text: Array(text.utf8))
        } catch {
            let mistakes = error.mistakes.map { "--filter \($0.description)" }
            throw ValidationError(mistakes.joined(separator: "\n"))
        }
    }
}
