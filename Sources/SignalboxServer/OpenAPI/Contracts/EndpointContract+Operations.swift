/// Endpoints about button sets, deliveries and destinations.
extension EndpointContract {
    /// Codes of previews and of the runs that confirm them.
    private static let bulk =
        queue + query + ["body-unexpected", "confirm-expired", "confirm-mismatch", "destination-not-found"]
    /// Fields of answers that apps revalidate when they start.
    private static let cached: [AnswerField] = [.etag, .cacheControl]

    static let categories: [EndpointContract] = [
        EndpointContract(
            "GET /v1/categories", "listCategories", fields: [.ifNoneMatch], .json("CategoryList", fields: cached),
            .notModified, problems: queue),
        EndpointContract(
            "GET /v1/categories/{identifier}", "getCategory", fields: [.ifNoneMatch],
            .json("Category", fields: cached), .notModified, problems: queue + ["category-not-found"]),
    ]

    static let deliveries: [EndpointContract] = [
        EndpointContract(
            "GET /v1/deliveries", "listDeliveries", .json("DeliveryList"),
            problems: queue + ["destination-not-found"]),
        EndpointContract(
            "GET /v1/deliveries/{id}", "getDelivery", .json("Delivery"), problems: queue + ["delivery-not-found"]),
        EndpointContract(
            "POST /v1/deliveries/{id}/retry", "retryDelivery", .json("Requeued"),
            problems: queue + ["delivery-not-found", "delivery-ended", "delivery-awaits-media"]),
        EndpointContract(
            "POST /v1/deliveries/retry", "retryDeliveries", body: [.json("BulkRequest")], optional: true,
            .json("RetryAnswer"), problems: bulk),
        EndpointContract(
            "POST /v1/deliveries/purge", "purgeDeliveries", body: [.json("BulkRequest")], .json("PurgeAnswer"),
            problems: bulk + ["reason-required"]),
    ]

    static let destinations: [EndpointContract] = [
        EndpointContract("GET /v1/destinations", "listDestinations", .json("DestinationList"), problems: queue),
        EndpointContract(
            "GET /v1/destinations/{name}", "getDestination", .json("Destination"),
            problems: queue + ["destination-not-found"]),
        EndpointContract(
            "POST /v1/destinations/{name}/pause", "pauseDestination", .json("DestinationState"),
            problems: queue + query + ["destination-not-found"]),
        EndpointContract(
            "POST /v1/destinations/{name}/resume", "resumeDestination", .json("DestinationState"),
            problems: queue + ["destination-not-found"]),
        EndpointContract(
            "POST /v1/destinations/{name}/ping", "pingDestination", .json("PingResult"),
            problems: queue + ["destination-not-found"]),
    ]
}
