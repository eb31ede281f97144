package import SignalboxGateway

/// The services that the gateway offers over HTTP under one config, and their access.
package struct GatewaySurface: Sendable {
    let intake: Intake
    let interactions: InteractionIntake
    let sources: SourceAccess
    let operators: AdminAccess
    let operations: OperationsAPI
    let routes: RoutesAPI
    let categories: CategoriesAPI
    let media: MediaAPI

    package init(
        intake: Intake, interactions: InteractionIntake, sources: SourceAccess, operators: AdminAccess,
        operations: OperationsAPI, routes: RoutesAPI, categories: CategoriesAPI, media: MediaAPI
    ) {
        self.intake = intake
        self.interactions = interactions
        self.sources = sources
        self.operators = operators
        self.operations = operations
        self.routes = routes
        self.categories = categories
        self.media = media
    }
}
