import SignalboxStore

extension ProviderEndpoints {
    /// The endpoints of one config. `state` and `alarm`: shared by all configs.
    init(_ surface: GatewaySurface, _ state: ProviderState, alarm: QueueAlarm) {
        self.init(
            all: [
                APNsEndpoint(
                    surface.senders.apns, intake: surface.intake, channels: surface.queue, alarm: alarm,
                    failures: state.failures, usage: state.usage)
            ], notFound: APNsReply.badPath)
    }
}
