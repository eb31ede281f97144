import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxStore

extension ProviderEndpoints {
    /// The endpoints of one config. `state` and `alarm`: shared by all configs. `counters`: measure the requests of
    /// each endpoint.
    init(_ surface: GatewaySurface, _ state: ProviderState, alarm: QueueAlarm, counters: ServerCounters) {
        let forwarding = PushForwarding(
            passThrough: surface.passThrough, senders: surface.senders.apns, sources: surface.sources)
        let acceptance = PushAcceptance(
            admission: SourceAdmission(usage: state.usage, limits: surface.senders.limits),
            failures: PushFailures(rules: surface.failures.rules, intake: surface.intake),
            store: PushStore(intake: surface.intake, alarm: alarm),
            captures: PushCaptures(log: state.captures, tokens: surface.tokens, observation: surface.observation),
            held: state.held, forwarding: surface.passThrough.isEmpty ? nil : forwarding)
        self.init(
            surface.senders, sources: surface.sources, acceptance, surface.queue, state,
            granted: GrantedTokens(key: surface.keys.key(for: .accessTokens)))
        telemetry = surface.telemetry
        timers = PushService.allCases.map { counters.timer(of: $0.rawValue, success: 200) }
    }

    /// `granted`: grants access tokens to service accounts. `now`: the clock of tokens and subscriptions.
    init(
        _ senders: ProviderSenders, sources: SourceAccess, _ acceptance: PushAcceptance,
        _ queue: any IntakeStore & ChannelStore, _ state: ProviderState, granted: GrantedTokens,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let google = GoogleAccess(
            sources: sources, accounts: senders.accounts, serverKeys: senders.serverKeys,
            projects: senders.projects, tokens: granted)
        self.init(
            // In the order of `PushService`.
            all: [
                APNsEndpoint(senders.apns, acceptance, channels: queue, failures: state.failures, now: now),
                FCMEndpoint(
                    access: google, acceptance: acceptance, topics: state.topics, tokens: granted,
                    contents: state.contents, failures: state.failures, proofs: state.bearerProofs, now: now),
                ExpoEndpoint(
                    sources: sources, tokens: senders.expoTokens, acceptance: acceptance, queue: queue,
                    contents: state.contents, failures: state.failures),
            ], captures: acceptance.captures)
    }
}
