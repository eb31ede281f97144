/// Where a campaign was shown when it was tapped, in the words of Synerise's SDK (`SNRSyneriseActivity`).
package enum Activity: String, Sendable, CaseIterable {
    case simplePush, banner, walkthrough

    /// What becomes of what is shown once its action is carried out.
    package enum Presentation: String, Sendable {
        case hide, keep
    }

    /// A walkthrough stays, so that its other pages can be seen; the others go.
    /// Source: Synerise, "Handling actions from campaigns" (completion handlers `.none` and `.hide`)
    package var presentation: Presentation { self == .walkthrough ? .keep : .hide }

    /// Where a notification of this kind is shown, for an app that does not say.
    package init?(kind: String) {
        switch kind {
        case "alert": self = .simplePush
        case "banner", "mandatory-upgrade": self = .banner
        case "walkthrough": self = .walkthrough
        default: return nil
        }
    }
}
