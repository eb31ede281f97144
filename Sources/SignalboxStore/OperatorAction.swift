package import Foundation

/// A change of the gateway's state that a person or a program requested: a row of the action log.
package struct OperatorAction: Sendable, Equatable {
    /// The way the request came. Raw values are stored, and those of the API.
    package enum Origin: String, Sendable, CaseIterable {
        case api, cli
        /// The gateway itself, such as at the end of a pause.
        case gateway
    }

    /// The name of the token, `local` without tokens, `cli:` and the user's number, or `gateway`.
    package var actor: String
    /// The role of the token; nil for the command line.
    package var role: String?
    /// The address of the client; nil for the command line.
    package var remote: String?
    /// The way the request came.
    package var via: Origin
    /// The operation, such as `deliveries.retry`.
    package var operation: String
    /// The object that it changes, such as the name of a destination; nil for several.
    package var target: String?
    /// The conditions and values of the request, by name.
    package var parameters: [String: String]
    /// The reason that the actor gave.
    package var reason: String?
    /// `done`, or the code of the error that refused it.
    package var result: String

    /// The longest value that is stored, in characters.
    package static let longestValue = 500

    /// Values beyond ``longestValue`` are cut.
    package init(
        by actor: String, role: String? = nil, remote: String? = nil, via: Origin, _ operation: String,
        target: String? = nil, parameters: [String: String] = [:], reason: String? = nil, result: String = "done"
    ) {
        func cut(_ text: String) -> String { String(text.prefix(Self.longestValue)) }
        (self.actor, self.role, self.remote, self.via) = (actor, role, remote, via)
        (self.operation, self.target) = (operation, target.map(cut))
        self.parameters = parameters.mapValues(cut)
        (self.reason, self.result) = (reason.map(cut), result)
    }
}

/// A stored row of the action log.
package struct ActionRecord: Sendable, Equatable {
    /// Grows with each action.
    package let id: Int64
    /// When the change was made.
    package let at: Date
    package let action: OperatorAction
    /// The number of changed objects; nil if it does not apply.
    package let count: Int?
}

/// Selects actions that meet every condition that is set.
package struct ActionFilter: Sendable, Equatable {
    /// Only actions of this actor; nil for all.
    package var actor: String?
    /// Only actions of this operation; nil for all.
    package var operation: String?
    /// Only actions on this target; nil for all.
    package var target: String?
    /// Selects actions at this time or later.
    package var since: Date?
    /// Selects actions before this time.
    package var until: Date?
    /// Selects smaller ids: the next page.
    package var before: Int64?

    /// Selects every action.
    package init() {}
}

/// Keeps the log of actions. No verb removes a row; upkeep keeps the newest ``StoreLimits/actions``.
///
/// Changes of the store, except removals of media, write their row in their own transaction: their verbs take the
/// action.
package protocol ActionStore: StoreStatus {
    /// Records an action in a transaction of its own: one that was refused, one on the memory of the process, or a
    /// removal of media. Durable when it returns.
    func record(_ action: OperatorAction, count: Int?) async throws(StoreError)

    /// A page of actions, newest first: at most `limit`, from at most `rows` that the store examines.
    func actionPage(_ filter: ActionFilter, limit: Int, examining rows: Int) async throws(StoreError)
        -> StorePage<ActionRecord>
}
