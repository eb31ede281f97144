package import Foundation

/// What operators watch of a destination: cheap enough to be asked every few seconds.
package struct DestinationGauges: Sendable, Equatable {
    package var accepted = 0
    package var waiting = 0
    package var dead = 0
    /// Since when the delivery that has been due longest is due; nil when none is.
    package var oldestDue: Date?

    package init() {}
}
