package import SignalboxGateway

/// What the gateway offers over HTTP under one config, and to whom.
package struct GatewaySurface: Sendable {
    let intake: Intake
    let interactions: InteractionsAPI
    let access: SourceAccess
    let operations: OperationsAPI
    let routes: RoutesAPI
    let categories: CategoriesAPI
    let media: MediaAPI

    package init(
        intake: Intake, interactions: InteractionsAPI, access: SourceAccess, operations: OperationsAPI,
        routes: RoutesAPI, categories: CategoriesAPI, media: MediaAPI
    ) {
        self.intake = intake
        self.interactions = interactions
        self.access = access
        self.operations = operations
        self.routes = routes
        self.categories = categories
        self.media = media
    }
}
