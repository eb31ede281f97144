import SignalboxConfig
import SignalboxInApp
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct InAppEventTests {
    private let crm = DestinationName("crm")
    private let spare = DestinationName("spare")

    private func pattern(_ text: String) throws -> Pattern { try Pattern(text: Array(text.utf8)) }

    @Test func routesMatchTypeAndData() async throws {
        let routes = RouteTable(
            routes: [
                Route(
                    name: "impressions", match: try pattern(#"{"type":["io.signalbox.inapp.impression"]}"#),
                    destinations: [crm]),
                Route(name: "spring", match: try pattern(#"{"data":{"message":["spring"]}}"#), destinations: [spare]),
            ])
        let setting = try await InAppSetting(routes: routes)
        try await setting.register("spring")
        try await setting.report("shown", of: try await setting.buy().offer)
        #expect(setting.store.events.map(\.routes) == [["spring"], ["impressions", "spring"]])
    }

    @Test func eventsAfterAWithdrawalNameTheCampaign() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring", #","campaign":"c-1""#)
        let offer = try await setting.buy().offer
        _ = try await setting.flow.withdraw("spring")
        try await setting.report("shown", of: offer)
        try await setting.report("dismissed", of: offer)
        let campaigns = setting.store.events.map { EventDocument($0.event.body)?.text("data", "campaign") }
        #expect(setting.types == ["offered", "impression", "dismissed"] && campaigns == ["c-1", "c-1", "c-1"])
    }

    /// Files and payloads are parts of notifications only.
    @Test func routesWithMediaAndIncludeDeliverTheEventAsItIs() async throws {
        var routes = RouteTable(
            routes: [
                Route(
                    name: "all", match: .everything, destinations: [crm], including: [.apns],
                    media: .stored(wait: .seconds(60)))
            ])
        routes.payloadTakers = [spare]
        routes.fallback = [spare]
        let setting = try await InAppSetting(routes: routes)
        try await setting.register("spring")
        _ = try await setting.buy()
        let event = try #require(setting.store.events.first)
        #expect(event.destinations == [crm] && event.variants.isEmpty && event.media == nil)
        #expect(event.deliveries.allSatisfy { $0.mediaUntil == nil && $0.variant == nil })
    }

    /// A destination that receives payloads as they arrived receives no events about decisions.
    @Test func aRawDestinationReceivesNone() async throws {
        var routes = RouteTable(routes: [Route(name: "all", match: .everything, destinations: [crm, spare])])
        routes.payloadTakers = [spare]
        let setting = try await InAppSetting(routes: routes)
        try await setting.register("spring")
        _ = try await setting.buy()
        #expect(setting.store.events.first?.destinations == [crm])
    }

    @Test func aCostlyRoutingLeavesTheEventToTheFallback() async throws {
        let route = try pattern(#"{"data":{"message":[{"wildcard":"*a*a*a*b"}]}}"#)
        var routes = RouteTable(routes: [Route(name: "costly", match: route, destinations: [crm])], fallback: [spare])
        routes.workLimit = 1
        let setting = try await InAppSetting(routes: routes)
        try await setting.register("spring")
        #expect(try await setting.buy().message == "spring", "the decision is not lost")
        let event = try #require(setting.store.events.first)
        #expect(event.routes.isEmpty && event.destinations == [spare])
        #expect(setting.flow.shared.counts.current.costly == 1)
    }
}
