import Foundation
import SignalboxConfig
import SignalboxTesting
import Testing

@Suite struct SecretReferenceTests {
    @Test(
        arguments: [
            ("env:TOKEN", .environment("TOKEN")), ("file:/run/secrets/token", .file("/run/secrets/token")),
            ("file:relative", .file("relative")), ("env:env:X", .environment("env:X")),
        ] as [(String, SecretReference)])
    func readsAReferenceAndWritesItBack(_ text: String, _ reference: SecretReference) {
        #expect(SecretReference(text) == reference)
        #expect(reference.description == text)
    }

    @Test(arguments: ["", "env:", "file:", "TOKEN", "whsec_abc", "ENV:TOKEN", " env:TOKEN", "vault:x"])
    func rejectsOtherTexts(_ text: String) {
        #expect(SecretReference(text) == nil)
    }

    @Test func fetchesFromTheEnvironment() throws {
        let environment = ["TOKEN": "s3cret", "PADDED": " s3cret\n", "EMPTY": "", "BLANK": " \n\t"]
        #expect(try SecretReference.environment("TOKEN").resolve(environment: environment) == "s3cret")
        #expect(try SecretReference.environment("PADDED").resolve(environment: environment) == "s3cret")
        #expect(
            message(.environment("EMPTY"), environment)
                == "the environment variable EMPTY is empty; set it to the value of the option")
        #expect(
            message(.environment("BLANK"), environment)
                == "the environment variable BLANK is empty; set it to the value of the option")
        #expect(
            message(.environment("NONE"), environment)
                == "the environment variable NONE is not set; set it to the value of the option")
    }

    @Test func fetchesFromAFile() async throws {
        try await withTemporaryDirectory { directory in
            func file(_ name: String, _ bytes: [UInt8]) throws -> SecretReference {
                try Data(bytes).write(to: URL(fileURLWithPath: directory + "/" + name))
                return .file(directory + "/" + name)
            }
            for text in ["s3cret", "s3cret\n", "s3cret\r\n", "\ns3cret\n\n", "\u{FEFF}s3cret\r\n"] {
                #expect(try file("secret", Array(text.utf8)).resolve(environment: [:]) == "s3cret")
            }
            #expect(try file("inner", Array("two words\n".utf8)).resolve(environment: [:]) == "two words")
            let empty = try file("empty", Array("\n".utf8))
            #expect(
                message(empty, [:])
                    == "the file \(directory)/empty is empty; it should contain the value of the option")
            let large = try file("large", [UInt8](repeating: UInt8(ascii: "a"), count: 70_000))
            let binary = try file("binary", [0xFF, 0xFE, 0x80])
            let pipe = directory + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let files = [
                (directory, "it is a directory"), (directory + "/none", "No such file or directory"),
                ("/dev/zero", "it is a device, not a file"), ("/dev/null", "it is a device, not a file"),
                (pipe, "it is a named pipe"),
            ]
            let texts = [(binary, "it is not UTF-8 text"), (large, "it is larger than 64KiB")]
            for (unreadable, reason) in texts + files.map({ (SecretReference.file($0), $1) }) {
                let end = " cannot be read: \(reason); it should contain the value of the option"
                #expect(message(unreadable, [:])?.hasSuffix(end) == true, "\(unreadable)")
            }
        }
    }

    private func message(_ reference: SecretReference, _ environment: [String: String]) -> String? {
        do throws(UnresolvedSecret) {
            _ = try reference.resolve(environment: environment)
            return nil
        } catch {
            return error.description
        }
    }
}
