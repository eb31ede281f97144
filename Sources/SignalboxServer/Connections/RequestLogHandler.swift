import Logging

/// Forwards messages to another handler together with the metadata of the logger.
///
/// The server gives every request a logger with an id, and few requests log a message. The usual handler formats
/// metadata whenever it changes.
struct RequestLogHandler: LogHandler {
    private var handler: any LogHandler
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level

    /// Forwards to the handler of a logger.
    init(_ logger: Logger) {
        handler = logger.handler
        logLevel = logger.logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        let own = metadata.merging(metadataProvider?.get() ?? [:]) { _, provided in provided }
        event.metadata = own.merging(event.metadata ?? [:]) { _, given in given }
        handler.log(event: event)
    }
}
