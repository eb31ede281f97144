/// The bodies, answers and problems of an endpoint, from which the description of the API derives. Tests compare the
/// answers with the contracts.
struct EndpointContract: Sendable {
    /// The name of the operation, from which generators of clients derive the name of a function. Unique and stable.
    let name: String
    /// The media types of the request's body; empty for an endpoint that reads no body.
    let body: [Content]
    /// Whether a request may lack its body.
    let isBodyOptional: Bool
    /// Header fields of the request that change the answer.
    let fields: [RequestField]
    /// Successful answers, and others without a problem.
    let answers: [Answer]
    /// Codes of problems that the handler throws. Those of access, query and body are derived from the endpoint.
    let problems: [String]

    init(
        _ name: String, body: [Content] = [], optional isBodyOptional: Bool = false, fields: [RequestField] = [],
        _ answers: Answer..., problems: [String] = []
    ) {
        (self.name, self.answers, self.problems) = (name, answers, problems)
        (self.body, self.isBodyOptional, self.fields) = (body, isBodyOptional, fields)
    }

    /// A media type and the form of its content.
    struct Content: Sendable {
        /// The form of a body.
        enum Form: Sendable {
            /// A schema of the components.
            case named(String)
            /// Text that no schema describes.
            case text
            /// Any bytes.
            case bytes
        }

        let type: String
        /// Names the schema that tests compare real answers with.
        let form: Form

        /// `schema`: its name in the components.
        static func json(_ schema: String) -> Content { Content(type: "application/json", form: .named(schema)) }
        /// NDJSON: one JSON text a line.
        static let lines = Content(type: "application/x-ndjson", form: .text)
        /// For content whose grammar is defined elsewhere, such as `text/event-stream`.
        static func text(_ type: String) -> Content { Content(type: type, form: .text) }
        /// `type`: may be a range such as `*/*` if the content decides the type.
        static func bytes(_ type: String) -> Content { Content(type: type, form: .bytes) }
    }

    /// An answer with one status.
    struct Answer: Sendable {
        let status: Int
        /// Its media types; empty for an answer without a body.
        let content: [Content]
        /// Header fields that the answer has, in addition to those of all answers of operators' endpoints.
        var fields: [AnswerField] = []

        /// `schema`: its name in the components. `fields`: in addition to those of operators' endpoints.
        static func json(_ schema: String, status: Int = 200, fields: [AnswerField] = []) -> Answer {
            Answer(status: status, content: [.json(schema)], fields: fields)
        }

        /// The client has the current content.
        static let notModified = Answer(status: 304, content: [], fields: [.etag, .cacheControl])
    }
}
