import ArgumentParser

/// The text is the same as with `--generate-completion-script`.
struct Completion: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion", abstract: "Print completions for a shell.",
        discussion: """
            Source the output, or store it where the shell looks: for example \
            /usr/share/bash-completion/completions/signalbox, /usr/share/zsh/vendor-completions/_signalbox or \
            /usr/share/fish/vendor_completions.d/signalbox.fish.
            """)

    /// The shells that ArgumentParser can complete for.
    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "The shell: bash, zsh or fish.") var shell: Shell

    func run() {
        let kind: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        print(Signalbox.completionScript(for: kind))
    }
}
