import Foundation
import SignalboxNotification
import SignalboxStore

/// Counts a request of a source against the limits of the source.
typealias SourceAdmission = @Sendable (SourceName, ProviderRequest) -> SourceUsage.Admission

extension ProviderEndpoints {
    /// The endpoints of one config. `state` and `alarm`: shared by all configs.
    init(_ surface: GatewaySurface, _ state: ProviderState, alarm: QueueAlarm) {
        self.init(
            surface.senders, sources: surface.sources, PushAcceptance(intake: surface.intake, alarm: alarm),
            surface.queue, state)
    }

    /// `now`: the clock of tokens and subscriptions.
    init(
        _ senders: ProviderSenders, sources: SourceAccess, _ acceptance: PushAcceptance,
        _ queue: any IntakeStore & ChannelStore, _ state: ProviderState,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let google = GoogleAccess(
            sources: sources, accounts: senders.accounts, serverKeys: senders.serverKeys,
            projects: senders.projects, tokens: state.accessTokens)
        let admit: SourceAdmission = { source, request in
            state.usage.admit(source, within: senders.limits(of: source), on: request.connection)
        }
        self.init(
            all: [
                APNsEndpoint(
                    senders.apns, intake: acceptance.intake, channels: queue, alarm: acceptance.alarm,
                    failures: state.failures, usage: state.usage, now: now),
                FCMEndpoint(
                    access: google, admit: admit, acceptance: acceptance, topics: state.topics,
                    tokens: state.accessTokens, failures: state.failures, now: now),
                ExpoEndpoint(
                    sources: sources, tokens: senders.expoTokens, admit: admit, acceptance: acceptance, queue: queue,
                    failures: state.failures),
            ], notFound: APNsReply.badPath)
    }
}
