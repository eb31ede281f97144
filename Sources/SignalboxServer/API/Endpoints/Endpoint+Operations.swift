import SignalboxConfig
import SignalboxStore

/// About button sets, deliveries and destinations.
extension Endpoint {
    /// Codes of previews and of the runs that confirm them.
    private static let bulk =
        queue + query + ["body-unexpected", "confirm-expired", "confirm-mismatch", "destination-not-found"]
    /// Fields of answers that apps revalidate when they start.
    private static let cached: [AnswerField] = [.etag, .cacheControl]

    /// Button sets.
    static let categories: [Endpoint] = [
        Endpoint(
            "GET", "/v1/categories", .sourceOr(.reader, .categories), "Lists the button sets that an app registers.",
            .init(
                "listCategories", fields: [.ifNoneMatch], .json("CategoryList", fields: cached), .notModified,
                problems: queue),
            parameters: [.wholeLimit, .cursor]
        ) { try await $0.surface.categories.list($1) },
        Endpoint(
            "GET", "/v1/categories/{identifier}", .sourceOr(.reader, .categories), "Returns one button set.",
            .init(
                "getCategory", fields: [.ifNoneMatch], .json("Category", fields: cached), .notModified,
                problems: queue + ["category-not-found"])
        ) { try await $0.surface.categories.show($1) },
    ]

    /// Deliveries.
    static let deliveries: [Endpoint] = [
        Endpoint(
            "GET", "/v1/deliveries", .reader, "Lists deliveries, newest first.",
            .init("listDeliveries", .json("DeliveryList"), problems: queue + ["destination-not-found"]),
            parameters: DeliveryFilter.parameters + [.limit, .cursor]
        ) { try await $0.surface.operations.listDeliveries($1) },
        Endpoint(
            "GET", "/v1/deliveries/{id}", .reader, "Returns one delivery with its attempts.",
            .init("getDelivery", .json("Delivery"), problems: queue + ["delivery-not-found"])
        ) { try await $0.surface.operations.showDelivery($1) },
        Endpoint(
            "POST", "/v1/deliveries/{id}/retry", .operator,
            "Requeues one dead or waiting delivery with a new retry budget.",
            .init(
                "retryDelivery", .json("Requeued"),
                problems: queue + ["delivery-not-found", "delivery-ended", "delivery-awaits-media"]),
            changes: .stored("deliveries.retry")
        ) { try await $0.surface.operations.retryDelivery($1) },
        Endpoint(
            "POST", "/v1/deliveries/retry", .operator,
            "Requeues every matching delivery: those of a confirmed preview with a body, at once without one.",
            .init(
                "retryDeliveries", body: [.json("BulkRequest")], optional: true, .json("RetryAnswer"), problems: bulk),
            parameters: DeliveryFilter.parameters, bodyLimit: BulkRequest.bodyLimit,
            changes: .stored("deliveries.retry"),
            head: { _, call in _ = try DeliveryFilter { call.query($0.name) } }
        ) { try await $0.bulk.retry($1, $2) },
        Endpoint(
            "POST", "/v1/deliveries/purge", .admin, "Removes the deliveries of a confirmed preview permanently.",
            .init(
                "purgeDeliveries", body: [.json("BulkRequest")], .json("PurgeAnswer"),
                problems: bulk + ["reason-required"]),
            bodyLimit: BulkRequest.bodyLimit, changes: .stored("deliveries.purge")
        ) { try await $0.bulk.purge($1, $2) },
    ]

    /// Destinations.
    static let destinations: [Endpoint] = [
        Endpoint(
            "GET", "/v1/destinations", .reader, "Lists destinations with their state, queue length and latency.",
            .init("listDestinations", .json("DestinationList"), problems: queue)
        ) { try await $0.surface.destinations.list($1) },
        Endpoint(
            "GET", "/v1/destinations/{name}", .reader, "Returns one destination.",
            .init("getDestination", .json("Destination"), problems: queue + ["destination-not-found"])
        ) { try await $0.surface.destinations.show($1) },
        Endpoint(
            "POST", "/v1/destinations/{name}/pause", .operator, "Pauses deliveries to a destination.",
            .init("pauseDestination", .json("DestinationState"), problems: queue + query + ["destination-not-found"]),
            parameters: [.pauseEnd], changes: .stored("destinations.pause")
        ) { try await $0.surface.destinations.pause($1) },
        Endpoint(
            "POST", "/v1/destinations/{name}/resume", .operator,
            "Ends every reason why a destination waits, such as a pause, a 410 or the wait for a probe.",
            .init("resumeDestination", .json("DestinationState"), problems: queue + ["destination-not-found"]),
            changes: .stored("destinations.resume")
        ) { try await $0.surface.destinations.resume($1) },
        Endpoint(
            "POST", "/v1/destinations/{name}/ping", .operator, "Sends a signed test event and returns the outcome.",
            .init("pingDestination", .json("PingResult"), problems: queue + ["destination-not-found"]),
            changes: .memory("destinations.ping")
        ) { try await $0.surface.destinations.ping($1) },
    ]
}
